"""How a test asks each API for the same thing, and reads the answer, without knowing its shape."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

Json = dict[str, Any]
SCHEMA: Json = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


@dataclass(frozen=True)
class Dialect:
    """`ask` makes a body from a text, `after_tool` one that ends with a tool's result. Readers take parsed JSON."""

    name: str
    path: Callable[[bool], str]
    ask: Callable[[str], Json]
    after_tool: Callable[[str], Json]
    text: Callable[[Json], str]  # of a whole answer
    piece: Callable[[Json], str]  # of a streamed event
    call: Callable[[Json], tuple[str, Json]]  # of a whole answer
    call_piece: Callable[[Json], str]  # the part of a tool's arguments, as JSON text, in a streamed event
    last: Callable[[list[str]], bool]  # whether these event payloads end as a whole answer does

    def body(self, body: Json, *, stream: bool) -> Json:
        return body if self.name == "gemini" else body | {"stream": stream, "model": "stub-model"}


def events(response: httpx.Response) -> list[str]:
    """The data of every server-sent event."""
    return [line.removeprefix("data: ") for line in response.iter_lines() if line.startswith("data: ")]


def _chat_piece(event: Json) -> str:
    return str(event["choices"][0]["delta"].get("content", "") if event["choices"] else "")


def _chat_call_piece(event: Json) -> str:
    calls = event["choices"][0]["delta"].get("tool_calls", []) if event["choices"] else []
    return "".join(call["function"]["arguments"] for call in calls)


def _gemini_call_piece(event: Json) -> str:
    parts = event["candidates"][0]["content"]["parts"]
    return "".join(json.dumps(part["functionCall"]["args"]) for part in parts if "functionCall" in part)


def _gemini_piece(event: Json) -> str:
    return "".join(part.get("text", "") for part in event["candidates"][0]["content"]["parts"])


ANTHROPIC = Dialect(
    name="anthropic",
    path=lambda _stream: "/v1/messages?beta=true",
    ask=lambda text: {
        "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
        "tools": [{"name": "Bash", "input_schema": SCHEMA}],
    },
    after_tool=lambda result: {
        "messages": [
            {"role": "user", "content": "STUB:bash=ls;;"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": result}]},
        ]
    },
    text=lambda answer: answer["content"][0]["text"],
    piece=lambda event: event.get("delta", {}).get("text", ""),
    call=lambda answer: (answer["content"][1]["name"], answer["content"][1]["input"]),
    call_piece=lambda event: event.get("delta", {}).get("partial_json", ""),
    last=lambda payloads: json.loads(payloads[-1])["type"] == "message_stop",
)
CHAT = Dialect(
    name="chat",
    path=lambda _stream: "/v1/chat/completions",
    ask=lambda text: {
        "messages": [{"role": "user", "content": text}],
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}],
    },
    after_tool=lambda result: {
        "messages": [
            {"role": "user", "content": "STUB:bash=ls;;"},
            {"role": "tool", "tool_call_id": "t1", "content": result},
        ]
    },
    text=lambda answer: answer["choices"][0]["message"]["content"],
    piece=_chat_piece,
    call=lambda answer: (
        answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"],
        json.loads(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]),
    ),
    call_piece=_chat_call_piece,
    last=lambda payloads: payloads[-1] == "[DONE]",
)
RESPONSES = Dialect(
    name="responses",
    path=lambda _stream: "/v1/responses",
    ask=lambda text: {
        "input": [{"role": "user", "content": [{"type": "input_text", "text": text}]}],
        "tools": [{"type": "function", "name": "shell", "parameters": SCHEMA}],
    },
    after_tool=lambda result: {
        "input": [
            {"role": "user", "content": "STUB:bash=ls;;"},
            {"type": "function_call_output", "call_id": "t1", "output": result},
        ]
    },
    text=lambda answer: answer["output"][0]["content"][0]["text"],
    piece=lambda event: event["delta"] if event["type"] == "response.output_text.delta" else "",
    call=lambda answer: (answer["output"][0]["name"], json.loads(answer["output"][0]["arguments"])),
    call_piece=lambda event: event["delta"] if event["type"] == "response.function_call_arguments.delta" else "",
    last=lambda payloads: json.loads(payloads[-1])["type"] == "response.completed",
)
GEMINI = Dialect(
    name="gemini",
    path=lambda stream: f"/v1beta/models/gemini-x:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}",
    ask=lambda text: {
        "contents": [{"role": "user", "parts": [{"text": "<session_context>\nx\n</session_context>"}, {"text": text}]}],
        "tools": [{"functionDeclarations": [{"name": "run_shell_command", "parametersJsonSchema": SCHEMA}]}],
    },
    after_tool=lambda result: {
        "contents": [
            {"role": "user", "parts": [{"text": "STUB:bash=ls;;"}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {"output": result}}}]},
        ]
    },
    text=_gemini_piece,
    piece=_gemini_piece,
    call=lambda answer: (
        answer["candidates"][0]["content"]["parts"][0]["functionCall"]["name"],
        answer["candidates"][0]["content"]["parts"][0]["functionCall"]["args"],
    ),
    call_piece=_gemini_call_piece,
    last=lambda payloads: json.loads(payloads[-1])["candidates"][0].get("finishReason") == "STOP",
)
DIALECTS = (ANTHROPIC, CHAT, RESPONSES, GEMINI)
