"""OpenAI Chat Completions."""

from collections.abc import Iterator
from typing import Any

from tests.stub_model.conversation import Conversation, flat, newest
from tests.stub_model.plans import Answer, Ending, Fault, Frame, Reply, UseTool


def read(body: dict[str, Any], _path: str) -> Conversation:
    messages = body.get("messages") or []
    due = bool(messages) and messages[-1].get("role") == "tool"
    return Conversation(
        text=newest(flat(message.get("content")) for message in messages if message.get("role") == "user"),
        tools={
            tool["function"]["name"]: tool["function"].get("parameters") or {}
            for tool in body.get("tools") or []
            if tool.get("type") == "function"
        },
        tool_result=flat(messages[-1].get("content")) if due else None,
        model=body.get("model", "stub"),
        stream=bool(body.get("stream")),
    )


def problem(fault: Fault) -> dict[str, Any]:
    said = f"{fault.message}. Please try again in {fault.retry_after_s}s." if fault.resets_at else fault.message
    return {"error": {"message": said, "type": "stub_error", "code": fault.status, "param": None}}


def whole(reply: Reply, conversation: Conversation, number: int, request_tokens: int) -> dict[str, Any]:
    if isinstance(reply, UseTool):
        message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [_call(reply, number)]}
    else:
        message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    completion = _completion(conversation, number, "chat.completion")
    return completion | {"choices": [choice], "usage": _usage(request_tokens)}


def frames(reply: Reply, conversation: Conversation, number: int, request_tokens: int) -> Iterator[Frame]:
    chunk = _completion(conversation, number, "chat.completion.chunk")

    def frame(delta: dict[str, Any], finish: str | None = None, pause_s: float = 0.0) -> Frame:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return Frame(chunk | {"choices": [choice]}, pause_s=pause_s)

    yield frame({"role": "assistant", "content": ""})
    if isinstance(reply, Answer):
        if reply.thinking:
            yield frame({"reasoning_content": reply.thinking})
        for piece in reply.pieces:
            yield frame({"content": piece}, pause_s=reply.pause_s)
        if reply.ending is not Ending.WHOLE:
            return
    else:
        yield frame({"content": reply.preface})
        begun = _call(reply, number)
        begun["function"]["arguments"] = ""
        yield frame({"tool_calls": [{"index": 0, **begun}]})
        for piece in reply.argument_pieces:
            yield frame({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield frame({}, _finish(reply))
    yield Frame(chunk | {"choices": [], "usage": _usage(request_tokens)})
    yield Frame("[DONE]")


def _completion(conversation: Conversation, number: int, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-stub{number}", "object": kind, "created": 0, "model": conversation.model}


def _call(reply: UseTool, number: int) -> dict[str, Any]:
    function = {"name": reply.name, "arguments": "".join(reply.argument_pieces)}
    return {"id": f"call_stub{number}", "type": "function", "function": function}


def _finish(reply: Reply) -> str:
    return "tool_calls" if isinstance(reply, UseTool) else "stop"


def _usage(request_tokens: int) -> dict[str, Any]:
    return {"prompt_tokens": request_tokens, "completion_tokens": 7, "total_tokens": request_tokens + 7}
