"""Google Gemini ``generateContent`` and ``streamGenerateContent``."""

import json
from collections.abc import Iterator
from typing import Any

from tests.stub_model.conversation import Conversation, newest
from tests.stub_model.plans import Answer, Ending, Fault, Frame, Reply, UseTool

_STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
           429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}  # fmt: skip


def read(body: dict[str, Any], path: str) -> Conversation:
    contents = body.get("contents") or []
    users = [content for content in contents if content.get("role", "user") == "user"]
    results = [
        json.dumps(part["functionResponse"].get("response"))
        for part in (contents[-1].get("parts") or [] if contents else [])
        if "functionResponse" in part
    ]
    settings = body.get("generationConfig") or {}
    schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
    wants_json = settings.get("responseMimeType") == "application/json"
    return Conversation(
        text=newest(part["text"] for content in users for part in content.get("parts") or [] if "text" in part),
        tools={
            tool["name"]: tool.get("parametersJsonSchema") or tool.get("parameters") or {}
            for group in body.get("tools") or []
            for tool in group.get("functionDeclarations") or []
        },
        tool_result="\n".join(results) if results else None,
        model=path.rpartition("/")[2].partition(":")[0],
        stream=":streamGenerateContent" in path,
        answer_schema=(schema or {}) if wants_json or schema else None,
    )


def problem(fault: Fault) -> dict[str, Any]:
    status = _STATUS.get(fault.status, "UNKNOWN")
    told: dict[str, Any] = {"code": fault.status, "message": fault.message, "status": status}
    if fault.resets_at:
        retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{fault.retry_after_s}s"}
        quota = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel", "quotaMetric": "requests"}
        told["details"] = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [quota]}, retry]
    return {"error": told}


def whole(reply: Reply, _conversation: Conversation, number: int, request_tokens: int) -> dict[str, Any]:
    return _candidate([_part(reply)], number, request_tokens, finish="STOP")


def frames(reply: Reply, _conversation: Conversation, number: int, request_tokens: int) -> Iterator[Frame]:
    if isinstance(reply, UseTool):
        yield Frame(_candidate([{"text": reply.preface}], number, request_tokens))
        yield Frame(_candidate([_part(reply)], number, request_tokens, finish="STOP"))
        return
    if reply.thinking:
        thought = {"text": f"**Thinking** {reply.thinking}", "thought": True}
        yield Frame(_candidate([thought], number, request_tokens))
    last = len(reply.pieces) - 1 if reply.ending is Ending.WHOLE else None
    for at, piece in enumerate(reply.pieces):
        finish = "STOP" if at == last else ""
        yield Frame(_candidate([{"text": piece}], number, request_tokens, finish=finish), pause_s=reply.pause_s)


def _part(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, Answer):
        return {"text": reply.text}
    return {"functionCall": {"name": reply.name, "args": reply.arguments}}


def _candidate(parts: list[dict[str, Any]], number: int, request_tokens: int, finish: str = "") -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if finish:
        candidate["finishReason"] = finish
    usage = {
        "promptTokenCount": request_tokens,
        "candidatesTokenCount": 7,
        "totalTokenCount": request_tokens + 7,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "stub",
        "responseId": f"stub{number}",
    }
