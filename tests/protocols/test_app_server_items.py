"""Codex's items as tool calls."""

from typing import Any

import pytest

from kai.model.events import ToolCall, ToolResult
from kai.protocols.app_server_items import call_of, changes_of, result_of

COMMAND = {
    "type": "commandExecution",
    "id": "c",
    "command": "/bin/bash -lc 'ls -l'",
    "commandActions": [{"type": "unknown", "command": "ls -l"}],
}
CHANGE = {"path": "/w/a.txt", "kind": {"type": "update"}, "diff": "-old\n+new"}


@pytest.mark.parametrize(
    ("item", "call"),
    [
        (COMMAND, ToolCall("c", "shell", "ls -l")),
        ({**COMMAND, "commandActions": None}, ToolCall("c", "shell", "/bin/bash -lc 'ls -l'")),
        ({"type": "fileChange", "id": "f", "changes": [CHANGE, CHANGE]}, ToolCall("f", "edit", "/w/a.txt, /w/a.txt")),
        (
            {"type": "mcpToolCall", "id": "m", "server": "kai", "tool": "remember", "arguments": {"query": "q"}},
            ToolCall("m", "kai.remember", "q"),
        ),
        ({"type": "webSearch", "id": "w", "query": "quinces"}, ToolCall("w", "web search", "quinces")),
        ({"type": "imageView", "id": "v", "path": "/w/x.png"}, ToolCall("v", "imageView", "/w/x.png")),
        ({"type": "somethingNew", "id": "n"}, ToolCall("n", "somethingNew")),
        ({"type": "agentMessage", "id": "a", "text": "x"}, None),
        ({"type": "userMessage", "id": "u"}, None),
        ({"type": "reasoning", "id": "r"}, None),
        ({"type": "commandExecution"}, None),
        ({}, None),
    ],
)
def test_what_is_a_tool_call_and_what_it_is_about(item: Any, call: ToolCall | None) -> None:
    assert call_of(item) == call
    assert (result_of(item) is None) == (call is None)


@pytest.mark.parametrize(
    ("fields", "ok", "detail"),
    [
        ({"status": "completed", "exitCode": 0, "aggregatedOutput": "out"}, True, "out"),
        ({"status": "completed", "exitCode": 2, "aggregatedOutput": "out"}, False, "out"),
        ({"status": "failed", "exitCode": -1, "aggregatedOutput": None}, False, "failed"),
        ({"status": "declined", "changes": [CHANGE]}, False, "declined"),
        ({"status": "completed", "changes": [CHANGE]}, True, "update /w/a.txt\n-old\n+new"),
        ({"status": "completed", "result": {"content": [{"type": "text", "text": "found"}]}}, True, "found"),
        ({"status": "failed", "error": {"message": "no server"}}, False, "no server"),
        ({"status": "completed", "success": False, "contentItems": [{"text": "sorry"}]}, False, "sorry"),
    ],
)
def test_what_a_tool_call_came_to(fields: Any, ok: bool, detail: str) -> None:
    assert result_of({"type": "x", "id": "i", **fields}) == ToolResult("i", ok, detail)


def test_every_change_is_shown() -> None:
    assert changes_of({"changes": [CHANGE, {"path": "b", "kind": None, "diff": "+x"}, None]}) == (
        "update /w/a.txt\n-old\n+new\nchange b\n+x\nchange \n"
    )
