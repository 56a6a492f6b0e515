"""OpenAI Responses."""

import itertools
from collections.abc import Iterator
from typing import Any

from tests.stub_model.conversation import Conversation, flat, newest
from tests.stub_model.plans import Answer, Ending, Fault, Frame, Reply, UseTool, say
from tests.stub_model.tools import FREEFORM


def read(body: dict[str, Any], _path: str) -> Conversation:
    given = body.get("input") or []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    due = bool(items) and str(items[-1].get("type", "")).endswith("_output")
    return Conversation(
        text=newest(flat(item.get("content")) for item in items if item.get("role") == "user"),
        tools=dict(
            _tools(body, "".join(flat(item.get("content")) for item in items if item.get("role") == "developer"))
        ),
        tool_result=flat(items[-1].get("output")) if due else None,
        model=body.get("model", "stub"),
        stream=bool(body.get("stream")),
    )


def offered(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools of a request. Where its model works in code, Codex puts them among the input, in a namespace."""
    added = [
        item for item in body.get("input") or [] if isinstance(item, dict) and item.get("type") == "additional_tools"
    ]
    inner = [
        {**tool, "name": f"{space['name']}/{tool['name']}"}
        for item in added
        for space in item["tools"]
        for tool in space.get("tools") or []
    ]
    return [*(body.get("tools") or []), *inner]


def _tools(body: dict[str, Any], told: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and schemas; without the parameter that Codex, when nobody can be asked, tells its model not to use."""
    forbidden = {"sandbox_permissions"} if "Do not provide the `sandbox_permissions`" in told else set()
    for tool in offered(body):
        properties = (tool.get("parameters") or {}).get("properties") or {}
        if tool.get("type") == "function":
            known = {name: one for name, one in properties.items() if name not in forbidden}
            yield tool["name"], {**(tool.get("parameters") or {}), "properties": known}
        elif tool.get("type") == "custom":
            form = "code" if tool["name"].endswith("/exec") else "text"
            yield tool["name"], {FREEFORM: form, "properties": {"sandbox_permissions": {}} if not forbidden else {}}


def problem(fault: Fault) -> dict[str, Any]:
    told: dict[str, Any] = {"message": fault.message, "type": "stub_error", "code": str(fault.status), "param": None}
    if fault.resets_at:
        told |= {"type": "usage_limit_reached", "plan_type": "pro", "resets_at": fault.resets_at}
    if fault.refuses:
        told |= {"type": "invalid_request_error", "code": "content_policy_violation"}
    return {"error": told}


def whole(reply: Reply, conversation: Conversation, number: int, request_tokens: int) -> dict[str, Any]:
    done = {"status": "completed", "output": [_item(reply, number)], "usage": _usage(request_tokens)}
    return _response(conversation, number) | done


def frames(reply: Reply, conversation: Conversation, number: int, request_tokens: int) -> Iterator[Frame]:
    count = itertools.count()

    def frame(kind: str, pause_s: float = 0.0, **fields: Any) -> Frame:
        return Frame({"type": kind, "sequence_number": next(count), **fields}, kind, pause_s)

    response, item = _response(conversation, number), _item(reply, number)
    yield frame("response.created", response=response)
    yield frame("response.in_progress", response=response)
    place = {"item_id": item["id"], "output_index": 0}
    if isinstance(reply, Answer):
        text = {**place, "content_index": 0}
        yield frame("response.output_item.added", output_index=0, item=item | {"content": [], "status": "in_progress"})
        yield frame("response.content_part.added", **text, part=_part(""))
        for piece in reply.pieces:
            yield frame("response.output_text.delta", reply.pause_s, **text, delta=piece)
        if reply.ending is not Ending.WHOLE:
            return
        yield frame("response.output_text.done", **text, text=reply.text)
        yield frame("response.content_part.done", **text, part=_part(reply.text))
    else:
        given, kind = (
            ("input", "custom_tool_call_input") if "input" in item else ("arguments", "function_call_arguments")
        )
        yield frame("response.output_item.added", output_index=0, item=item | {given: "", "status": "in_progress"})
        for piece in say(item[given]).pieces:
            yield frame(f"response.{kind}.delta", **place, delta=piece)
        yield frame(f"response.{kind}.done", **place, **{given: item[given]})
    yield frame("response.output_item.done", output_index=0, item=item)
    done = {"status": "completed", "output": [item], "usage": _usage(request_tokens)}
    yield frame("response.completed", response=response | done)


def _item(reply: Reply, number: int) -> dict[str, Any]:
    if isinstance(reply, UseTool):
        space, _, name = reply.name.rpartition("/")
        call = {"id": f"fc_stub{number}", "call_id": f"call_stub{number}", "name": name, "status": "completed"}
        call |= {"namespace": space} if space else {}
        if FREEFORM in reply.arguments:
            return {"type": "custom_tool_call", **call, "input": reply.arguments[FREEFORM]}
        return {"type": "function_call", **call, "arguments": "".join(reply.argument_pieces)}
    content = [_part(reply.text)]
    return {
        "type": "message",
        "id": f"msg_stub{number}",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def _response(conversation: Conversation, number: int) -> dict[str, Any]:
    return {
        "id": f"resp_stub{number}",
        "object": "response",
        "created_at": 0,
        "model": conversation.model,
        "status": "in_progress",
        "output": [],
        "usage": None,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": 1,
        "top_p": 1,
    }


def _usage(request_tokens: int) -> dict[str, Any]:
    return {
        "input_tokens": request_tokens,
        "output_tokens": 7,
        "total_tokens": request_tokens + 7,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
