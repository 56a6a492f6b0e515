"""Which of the tools an agent offers is meant by "shell", "write" or "read", and arguments that fit its schema."""

import json
from collections.abc import Mapping
from typing import Any

_NAMES: Mapping[str, tuple[str, ...]] = {
    "bash": (
        "bash",
        "run_shell_command",
        "shell",
        "local_shell",
        "exec_command",
        "execute_command",
        "terminal",
        "execute",
        "functions/exec",
        "run_commands",
    ),
    "write": (
        "write",
        "write_file",
        "create_file",
        "write_to_file",
        "create",
        "edit_file",
        "apply_patch",
        "editor",
        "functions/exec",
    ),
    "read": ("read", "read_file", "view"),
}
_COMMAND = ("command", "cmd", "script", "commands")
_PATH = ("file_path", "filepath", "absolute_path", "path", "filename")
_CONTENT = ("content", "file_text", "contents", "text", "new_text")
WRITTEN = "written by stub"
FREEFORM = "freeform"  # name of the one argument of a tool that takes a "text" or "code" and no JSON
_PATCH = "*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch\n"
# A model that knows of a sandbox asks to be let out of it where it must.
_ESCALATION = {"sandbox_permissions": "require_escalated", "justification": "the stub wants it"}
_ZEROS: Mapping[str, Any] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}


def find(kind: str, tools: Mapping[str, dict[str, Any]]) -> str:
    """The offered tool of this kind ("bash", "write", "read"); "" when none is offered."""
    offered = {name.casefold(): name for name in tools}
    return next((offered[name] for name in _NAMES[kind] if name in offered), "")


def arguments(kind: str, value: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments that do what the magic word asks, with every other required property filled in."""
    if FREEFORM in schema:
        return {FREEFORM: _freeform(kind, value, schema)}
    wanted: list[tuple[tuple[str, ...], str]] = [(_COMMAND, value)] if kind == "bash" else [(_PATH, value)]
    if kind == "write":
        wanted.append((_CONTENT, f"{WRITTEN}\n"))
    properties = {name.casefold(): name for name in schema.get("properties") or {}}
    chosen: dict[str, Any] = {**_ESCALATION} if "sandbox_permissions" in properties else {}
    for names, what in wanted:
        name = next((properties[name] for name in names if name in properties), "")
        if name:
            chosen[name] = [what] if schema["properties"][name].get("type") == "array" else what
    return filled(schema) | chosen


def _freeform(kind: str, value: str, schema: dict[str, Any]) -> str:
    """A patch, or for "code" a line of JavaScript that calls the tool in question."""
    patch = _PATCH.format(path=value, line=WRITTEN)
    if schema[FREEFORM] != "code":
        return patch if kind == "write" else value
    command = {"cmd": value} | (_ESCALATION if "sandbox_permissions" in schema["properties"] else {})
    called = f"apply_patch({json.dumps(patch)})" if kind == "write" else f"exec_command({json.dumps(command)})"
    return f"const r = await tools.{called}; text(r);"


def filled(schema: dict[str, Any]) -> dict[str, Any]:
    """The smallest object that `schema` (of type object) accepts, as far as types and enums go."""
    properties = schema.get("properties") or {}
    return {name: _value(name, properties.get(name) or {}) for name in schema.get("required") or ()}


def _value(name: str, schema: dict[str, Any]) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type", "string")).casefold()
    if kind == "object":
        return filled(schema)
    if "timeout" in name.casefold() and kind in {"integer", "number"}:
        return 30_000
    return _ZEROS.get(kind, "stub")
