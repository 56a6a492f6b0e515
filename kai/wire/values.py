"""Reads JSON that others wrote: whatever stands where something else was expected, nothing here raises."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]


def parse(line: bytes) -> Any:
    """The value of one line of JSON; None when it is none, or nested or long beyond what can be read."""
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):  # ValueError: also an integer of more than 4300 digits
        return None


def line_of(value: Any) -> bytes:
    """One line of JSON, newline included. ASCII only: some agents cut their input at U+2028."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def record(value: Any) -> Json:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> Sequence[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def text(value: Any) -> str:
    """`value` if it is a string, else "". Half surrogate pairs, which no encoder takes, become ``?``."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def integer(value: Any) -> int | None:
    """`value` if it is a whole number that fits 64 bits, else None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None


def amount(value: Any) -> float | None:
    """`value` if it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e18 else None


def pretty(value: Any) -> str:
    """All of `value` as a person reads it: a string as it is, anything else as indented JSON."""
    if isinstance(value, str):
        return text(value)
    try:
        return text(json.dumps(value, ensure_ascii=False, indent=2))
    except (ValueError, RecursionError):
        return "(too deeply nested to be shown)"
