"""Anthropic Messages."""

from collections.abc import Iterator
from typing import Any

from tests.stub_model.conversation import Conversation, flat, newest, tokens
from tests.stub_model.plans import Answer, Ending, Fault, Frame, Reply, UseTool

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def read(body: dict[str, Any], _path: str) -> Conversation:
    users = [message for message in body.get("messages") or [] if message.get("role") == "user"]
    blocks = _blocks(users[-1]) if users else []
    results = [at for at, block in enumerate(blocks) if block.get("type") == "tool_result"]
    fresh = blocks[results[-1] + 1 :] if results else blocks
    text = newest(flat(block) for block in fresh if block.get("type") == "text")
    result = flat([blocks[at] for at in results]) if results and not text else None
    return Conversation(
        text=text,
        tools={tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools") or [] if "name" in tool},
        tool_result=result,
        model=body.get("model", "stub"),
        stream=bool(body.get("stream")),
    )


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def problem(fault: Fault) -> dict[str, Any]:
    error = {"type": _TYPES.get(fault.status, "api_error"), "message": fault.message}
    return {"type": "error", "error": error, "request_id": "req_stub"}


def whole(reply: Reply, conversation: Conversation, number: int, request_tokens: int) -> dict[str, Any]:
    blocks = [{"type": "text", "text": reply.preface if isinstance(reply, UseTool) else reply.text}]
    if isinstance(reply, UseTool):
        blocks.append(_tool_block(reply, number, reply.arguments))
    return _message(conversation, number, request_tokens) | {
        "content": blocks,
        "stop_reason": _stop_reason(reply),
        "usage": _usage(request_tokens, _reply_tokens(reply)),
    }


def frames(reply: Reply, conversation: Conversation, number: int, request_tokens: int) -> Iterator[Frame]:
    yield _frame("message_start", message=_message(conversation, number, request_tokens))
    index = 0
    if isinstance(reply, Answer) and reply.thinking:
        thought = {"type": "thinking_delta", "thinking": reply.thinking}
        signed = {"type": "signature_delta", "signature": "c3R1Yg=="}
        yield from _block(index, {"type": "thinking", "thinking": "", "signature": ""}, [thought, signed])
        index += 1
    pieces = reply.pieces if isinstance(reply, Answer) else (reply.preface,)
    pause_s = reply.pause_s if isinstance(reply, Answer) else 0.0
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    cut = isinstance(reply, Answer) and reply.ending is not Ending.WHOLE
    yield from _block(index, {"type": "text", "text": ""}, deltas, pause_s=pause_s, closed=not cut)
    if cut:
        return
    if isinstance(reply, UseTool):
        parts = [{"type": "input_json_delta", "partial_json": piece} for piece in reply.argument_pieces]
        yield from _block(index + 1, _tool_block(reply, number, {}), parts)
    delta = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    yield _frame("message_delta", delta=delta, usage={"output_tokens": _reply_tokens(reply)})
    yield _frame("message_stop")


def _block(
    index: int,
    start: dict[str, Any],
    deltas: list[dict[str, Any]],
    *,
    pause_s: float = 0.0,
    closed: bool = True,
) -> Iterator[Frame]:
    yield _frame("content_block_start", index=index, content_block=start)
    for delta in deltas:
        yield _frame("content_block_delta", pause_s, index=index, delta=delta)
    if closed:
        yield _frame("content_block_stop", index=index)


def _frame(event: str, pause_s: float = 0.0, **fields: Any) -> Frame:
    return Frame({"type": event, **fields}, event, pause_s)


def _message(conversation: Conversation, number: int, request_tokens: int) -> dict[str, Any]:
    return {
        "id": f"msg_stub{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": conversation.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(request_tokens, 1),
    }


def _tool_block(reply: UseTool, number: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_stub{number:06d}", "name": reply.name, "input": arguments}


def _stop_reason(reply: Reply) -> str:
    return "tool_use" if isinstance(reply, UseTool) else "end_turn"


def _reply_tokens(reply: Reply) -> int:
    return tokens(reply.text if isinstance(reply, Answer) else reply.arguments)


def _usage(request_tokens: int, reply_tokens: int) -> dict[str, Any]:
    return {
        "input_tokens": request_tokens,
        "output_tokens": reply_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
