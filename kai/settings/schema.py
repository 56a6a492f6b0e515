"""The edge: checks plain data against a `shape` with pydantic, and makes JSON schemas. All problems at once."""

import json
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from kai.settings.problems import did_you_mean
from kai.settings.values import About
from kai.settings.yaml_marks import KeyPath, Marked

_T = TypeVar("_T")


def validated(cls: type[_T], marked: Marked, at: KeyPath = ()) -> _T | None:
    """The value of `cls` that stands at a path of the data; None when it has problems, which `marked` then holds."""
    shape: Any = cls  # the cache takes no generic type
    data = _with_empty_sections(cls, _lookup(marked.data, at))
    before = len(marked.problems)
    if isinstance(data, dict):
        for name in sorted(set(data) & _filled_in_later(cls)):
            _add_unknown(cls, marked, (*at, name))
    try:
        # Through JSON, as only there strict types still take a mapping for a dataclass and a list for a tuple.
        value: _T = _adapter(shape).validate_json(json.dumps(data))
    except ValidationError as error:
        _translate(cls, marked, at, error)
        return None
    return value if len(marked.problems) == before else None


def json_schema(cls: type) -> dict[str, Any]:
    """The JSON schema of what a file may hold for `cls`."""
    schema: dict[str, Any] = _adapter(cls).json_schema()
    for name in _filled_in_later(cls):
        schema["properties"].pop(name, None)
    return schema


@dataclass(frozen=True, slots=True)
class Written:
    """A setting that a file may hold: its field, what is said about it, and its shape when it is a section."""

    field: Field[Any]
    about: About | None
    section: Any = None


@cache
def written_settings(cls: Any) -> dict[str, Written]:
    """The settings that a file may hold for `cls`, in order."""
    hints = get_type_hints(cls, include_extras=True)
    found: dict[str, Written] = {}
    for field in fields(cls):
        hint = hints[field.name]
        about = next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, About)), None)
        if not field.metadata.get("filled_in"):
            found[field.name] = Written(field, about, hint if is_dataclass(hint) else None)
    return found


@cache
def _adapter(cls: type) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def _filled_in_later(cls: type) -> set[str]:
    return {field.name for field in fields(cls)} - set(written_settings(cls))


def _with_empty_sections(cls: Any, data: Any) -> Any:
    """A section whose lines are all commented out reads as null in YAML: it stands for its defaults."""
    if not isinstance(data, dict):
        return data
    filled = dict(data)
    for name, setting in written_settings(cls).items():
        if setting.section and name in filled:
            value = filled[name]
            filled[name] = {} if value is None else _with_empty_sections(setting.section, value)
    return filled


def _translate(cls: type, marked: Marked, at: KeyPath, error: ValidationError) -> None:
    seen: set[KeyPath] = set()
    for entry in error.errors(include_url=False, include_context=True):
        missing = entry["type"] in ("missing", "missing_argument")
        path = _real_path(marked.data, (*at, *entry["loc"]), keep_last=missing)
        if path in seen or marked.is_bad(path):
            continue
        seen.add(path)
        if entry["type"] == "unexpected_keyword_argument":
            _add_unknown(cls, marked, path, at)
        elif missing:
            marked.add(path[:-1], f"{path[-1]!r} is missing", "add it", at_key=True)
        else:
            marked.add(path, *_sentence(entry["type"], entry.get("input"), entry.get("ctx", {}), entry["msg"]))


def _real_path(data: Any, path: KeyPath, *, keep_last: bool) -> KeyPath:
    """`path` without what pydantic adds of its own (the branches of a union)."""
    for depth, part in enumerate(path):
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return path[: depth + 1] if keep_last and isinstance(data, dict) else path[:depth]
    return path


def _add_unknown(cls: type, marked: Marked, path: KeyPath, at: KeyPath = ()) -> None:
    shape: Any = cls
    for part in path[len(at) : -1]:
        shape = written_settings(shape)[str(part)].section
    known = written_settings(shape)
    marked.add(path, f"unknown setting {path[-1]!r}", did_you_mean(str(path[-1]), known), at_key=True)


_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "dataclass_type": "a mapping of settings",
}


def _sentence(kind: str, value: Any, context: dict[str, Any], fallback: str) -> tuple[str, str]:
    shown = _shown(value)
    if value is None:
        return "it is empty", "give it a value or remove the line"
    if kind in ("literal_error", "enum"):
        choices = [choice.strip("'") for choice in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return f"must be one of {', '.join(choices)}, not {shown}", did_you_mean(str(value), choices)
    if kind == "greater_than_equal":
        return f"must be at least {context['ge']:,}, not {shown}", ""
    if kind == "less_than_equal":
        return f"must be at most {context['le']:,}, not {shown}", ""
    if kind not in _WANTED:
        return fallback, ""
    hint = ""
    if kind == "string_type" and isinstance(value, bool | int | float):
        hint = f'put it in quotes: "{json.dumps(value)}"'
    elif kind == "tuple_type":
        hint = "write [a, b], or '- a' in lines of their own"
    elif isinstance(value, str) and kind != "dataclass_type":
        hint = "write it without quotes" if value[:1].isdigit() or value in ("true", "false") else ""
    return f"must be {_WANTED[kind]}, not {shown}", hint


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _lookup(data: Any, path: KeyPath) -> Any:
    for part in path:
        data = data[part]
    return data
