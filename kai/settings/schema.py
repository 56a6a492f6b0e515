"""The edge: checks plain data against a `shape`, all problems at once, and makes JSON schemas.

Our own few lines and not pydantic's, which makes the schemas alone: its validators of all shapes take a tenth of a
start, and it would be held by every daemon, for as long as it runs, for the few files that are read at its start.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from kai.settings.problems import did_you_mean, nearest
from kai.settings.values import About
from kai.settings.yaml_marks import KeyPath, Marked

_T = TypeVar("_T")


def validated(cls: type[_T], marked: Marked, at: KeyPath = ()) -> _T | None:
    """The value of `cls` that stands at a path of the data; None when it has problems, which `marked` then holds."""
    check = _Check(marked)
    value: _T = check.section(cls, at, marked.at(at))
    return value if check.is_sound else None


@cache
def written_settings(cls: Any) -> dict[str, Any]:
    """What a file may set in `cls`, in order: name to its `About`, or to the shape of a section."""
    hints = get_type_hints(cls)
    return {
        each.name: hints[each.name] if is_dataclass(hints[each.name]) else each.metadata.get("about", About(""))
        for each in fields(cls)
        if not each.metadata.get("filled_in")
    }


def json_schema(cls: Any) -> dict[str, Any]:
    """The JSON schema of what a file may hold for `cls`."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - who writes schemas, only

    schema: dict[str, Any] = TypeAdapter(cls).json_schema()
    _describe(cls, schema, schema)
    return schema


def _describe(cls: Any, part: dict[str, Any], schema: dict[str, Any]) -> None:
    written = written_settings(cls)
    part["properties"] = {name: each for name, each in part["properties"].items() if name in written}
    for name, about in written.items():
        if isinstance(about, About):
            told = {"description": about.text, "minimum": about.low, "maximum": about.high}
            part["properties"][name].update({key: value for key, value in told.items() if value not in (None, "")})
        else:
            _describe(about, schema["$defs"][about.__name__], schema)


@cache
def _types(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


_WANTED = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
_SOUND: Mapping[Any, Callable[[Any], bool]] = {
    str: lambda value: isinstance(value, str),
    int: lambda value: isinstance(value, int) and not isinstance(value, bool),
    float: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    bool: lambda value: isinstance(value, bool),
}


class _Check:
    """Makes values of data. What is wrong is noted in `marked`, and some value stands in its place."""

    def __init__(self, marked: Marked) -> None:
        self._marked = marked
        self.is_sound = True  # a problem that was known before is told once, and is one all the same

    def section(self, cls: Any, at: KeyPath, data: Any) -> Any:
        """A `shape`. A section whose lines are all commented out reads as null in YAML: it stands for its defaults."""
        if not isinstance(data, dict):
            return self._wrong(at, "a mapping of settings", data)
        written, types, found = written_settings(cls), _types(cls), {}
        for name, value in data.items():
            path, about = (*at, name), written.get(name)
            if about is None:
                self._add(path, f"unknown setting {name!r}", did_you_mean(name, written), at_key=True)
            elif isinstance(about, About):
                self._bounds(about, path, value)
                found[name] = self.value(types[name], path, value)
            else:
                found[name] = self.section(about, path, {} if value is None else value)
        for each in fields(cls):
            if each.name not in data and each.default is MISSING and each.default_factory is MISSING:
                self._add((*at, each.name), "it is missing", "add it")
                return None
        return cls(**found)

    def value(self, kind: Any, path: KeyPath, value: Any) -> Any:
        """One value of a type as the shapes have them."""
        origin, args = get_origin(kind), get_args(kind)
        if value is None:
            self._add(path, "it is empty", "give it a value or remove the line")
        elif is_dataclass(kind):
            return self.section(kind, path, value)
        elif origin in (Union, UnionType):
            sound = [one for one in args if _SOUND[one](value)]
            return self.value(sound[0] if sound else args[0], path, value)
        elif origin is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
            return self._choice(kind, [str(one) for one in args or [each.value for each in kind]], path, value)
        elif origin is tuple:
            if isinstance(value, list):
                return tuple(self.value(args[0], (*path, number), one) for number, one in enumerate(value))
            self._wrong(path, "a list", value, "write [a, b], or '- a' in lines of their own")
        elif origin is not None:
            if isinstance(value, dict):
                return {name: self.value(args[1], (*path, name), one) for name, one in value.items()}
            self._wrong(path, "a mapping", value)
        elif not _SOUND[kind](value):
            self._plain(kind, path, value)
        return float(value) if kind is float and _SOUND[float](value) else value

    def _choice(self, kind: Any, choices: list[str], path: KeyPath, value: Any) -> Any:
        if value in choices:
            return kind(value) if isinstance(kind, type) else value
        near = nearest(str(value), choices)
        self._wrong(path, f"one of {', '.join(choices)}", value, f"did you mean {near!r}?" if near else "", amends=True)
        return value

    def _plain(self, kind: Any, path: KeyPath, value: Any) -> None:
        hint = ""
        if kind is str and isinstance(value, bool | int | float):
            hint = f'put it in quotes: "{json.dumps(value)}"'
        elif isinstance(value, str) and (value[:1].isdigit() or value in ("true", "false")):
            hint = "write it without quotes"
        self._wrong(path, _WANTED[kind], value, hint, amends=kind in (int, float))

    def _wrong(self, path: KeyPath, wanted: str, value: Any, hint: str = "", *, amends: bool = False) -> None:
        message = f"must be {wanted}, not {_shown(value)}"
        if amends:
            self._marked.amend(path, message)
        self._add(path, message, hint)

    def _add(self, path: KeyPath, message: str, hint: str = "", *, at_key: bool = False) -> None:
        self.is_sound = False
        self._marked.add(path, message, hint, at_key=at_key)

    def _bounds(self, about: About, path: KeyPath, value: Any) -> None:
        if not _SOUND[float](value):
            return
        if about.low is not None and value < about.low:
            self._add(path, f"must be at least {about.low:,}, not {value:,}")
        elif about.high is not None and value > about.high:
            self._add(path, f"must be at most {about.high:,}, not {value:,}")


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
