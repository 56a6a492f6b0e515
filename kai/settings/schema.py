"""The edge: checks plain data against a `shape` with pydantic, and makes JSON schemas. All problems at once."""

import json
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from kai.settings.problems import did_you_mean, nearest
from kai.settings.values import About
from kai.settings.yaml_marks import KeyPath, Marked

_T = TypeVar("_T")


def validated(cls: type[_T], marked: Marked, at: KeyPath = ()) -> _T | None:
    """The value of `cls` that stands at a path of the data; None when it has problems, which `marked` then holds."""
    shape: Any = cls  # the cache takes no generic type
    before = len(marked.problems)
    data = marked.at(at)
    _compare(shape, marked, at, data)
    try:
        # Through JSON, as only there strict types still take a mapping for a dataclass and a list for a tuple.
        value: _T = _adapter(shape).validate_json(json.dumps(_with_empty_sections(shape, data)))
    except ValidationError as error:
        _translate(marked, at, error)
        return None
    return value if len(marked.problems) == before else None


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
    schema: dict[str, Any] = _adapter(cls).json_schema()
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
def _adapter(cls: Any) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def _with_empty_sections(cls: Any, data: Any) -> Any:
    """A section whose lines are all commented out reads as null in YAML: it stands for its defaults."""
    if not isinstance(data, dict):
        return data
    sections = {
        name: each for name, each in written_settings(cls).items() if name in data and not isinstance(each, About)
    }
    return {**data, **{name: _with_empty_sections(each, data[name] or {}) for name, each in sections.items()}}


def _compare(cls: Any, marked: Marked, at: KeyPath, data: Any) -> None:
    """Finds numbers out of bounds and unknown names (those that kai fills in itself, too: pydantic would take them)."""
    written = written_settings(cls)
    for name, value in data.items() if isinstance(data, dict) else ():
        path, about = (*at, name), written.get(name)
        if about is None:
            marked.add(path, f"unknown setting {name!r}", did_you_mean(name, written), at_key=True)
        elif not isinstance(about, About):
            _compare(about, marked, path, value)
        elif about.low is not None and _is_number(value) and value < about.low:
            marked.add(path, f"must be at least {about.low:,}, not {value:,}")
        elif about.high is not None and _is_number(value) and value > about.high:
            marked.add(path, f"must be at most {about.high:,}, not {value:,}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _translate(marked: Marked, at: KeyPath, error: ValidationError) -> None:
    for entry in error.errors(include_url=False):
        path = _real_path(marked.data, (*at, *entry["loc"]), keep_last=entry["type"] == "missing")
        message, hint = _sentence(entry["type"], entry["input"], entry.get("ctx", {}), entry["msg"])
        if entry["type"] in ("literal_error", "enum", "int_type", "int_parsing", "float_type"):
            marked.amend(path, message)
        marked.add(path, message, hint)


def _real_path(data: Any, path: KeyPath, *, keep_last: bool) -> KeyPath:
    """`path` without what pydantic adds of its own (the branches of a union)."""
    for depth, part in enumerate(path):
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return path[: depth + 1] if keep_last and isinstance(data, dict) else path[:depth]
    return path


_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "dataclass_type": "a mapping of settings",
}


def _sentence(kind: str, value: Any, context: dict[str, Any], fallback: str) -> tuple[str, str]:
    shown = _shown(value)
    if kind == "missing":
        return "it is missing", "add it"
    if value is None:
        return "it is empty", "give it a value or remove the line"
    if kind in ("literal_error", "enum"):
        choices = [choice.strip("'") for choice in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return f"must be one of {', '.join(choices)}, not {shown}", f"did you mean {near!r}?" if (
            near := nearest(str(value), choices)
        ) else ""
    if kind not in _WANTED:
        return fallback, ""
    hint = ""
    if kind == "string_type" and isinstance(value, bool | int | float):
        hint = f'put it in quotes: "{json.dumps(value)}"'
    elif kind == "tuple_type":
        hint = "write [a, b], or '- a' in lines of their own"
    elif isinstance(value, str) and (value[:1].isdigit() or value in ("true", "false")):
        hint = "write it without quotes"
    return f"must be {_WANTED[kind]}, not {shown}", hint


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
