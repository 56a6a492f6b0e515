"""YAML as plain data, with the position of every key and value, and none of YAML's surprises.

What YAML 1.1 and 1.2 read differently (``no``, ``0123``, ``10:00``, ``2026-11-30``) is an error that demands quotes;
so are duplicate keys, tags, tabs, further documents, and whatever is too large or too deep.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from kai.settings.problems import Place, Problem, problem

KeyPath = tuple[str | int, ...]
MAX_BYTES = 256 * 1024
MAX_DEPTH = 16
MAX_NODES = 20_000  # aliases count with all they stand for, so a "billion laughs" ends here

_Loader: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_Events = Iterator[Any]
_INT = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]{0,17})\.[0-9]{1,18}")
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][-+.0-9_:]*|[-+]?0[xXoObB][0-9a-fA-F_]+|[-+]?[0-9.]+[eE][-+]?[0-9]+")
_VERSION = re.compile(r"[0-9]+(\.[0-9]+){2,}")  # 2.1.332 is text in every YAML
_UNPRINTABLE = re.compile(r"[^\x09\x0A\x0D\x20-\x7E\x85\xA0-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "true": "true"} | dict.fromkeys(
    ("no", "off", "n", "false"), "false"
)
_TEXT_TAG = "tag:yaml.org,2002:str"
_KINDS = {"timestamp": "a date", "merge": "a merge", "value": "a default", "null": "nothing"}


@dataclass
class Marked:
    """Plain data (dict, list, str, int, float, bool, None) with the place of each value and key, by path."""

    file: str
    data: Any = None
    values: dict[KeyPath, Place] = field(default_factory=dict)
    keys: dict[KeyPath, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    bad: set[KeyPath] = field(default_factory=set)  # values that already have a problem

    def value_place(self, path: KeyPath) -> Place:
        """Where the value stands, or the nearest thing around it."""
        return next((self.values[p] for p in _upwards(path) if p in self.values), Place(self.file))

    def key_place(self, path: KeyPath) -> Place:
        """Where the key stands; a list's member has none, so its value's place."""
        return self.keys.get(path) or self.value_place(path)

    def is_bad(self, path: KeyPath) -> bool:
        """The value at `path`, or one around it, has a problem already."""
        return any(p in self.bad for p in _upwards(path))

    def add(self, path: KeyPath, message: str, hint: str = "", *, at_key: bool = False) -> None:
        """Note a problem at a path."""
        self.problems.append(
            problem(self.key_place(path) if at_key else self.value_place(path), dotted(path), message, hint)
        )


def dotted(path: KeyPath) -> str:
    """``("people", "ann", 0)`` as ``people.ann[0]``."""
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")


def parse(source: bytes, file: str) -> Marked:
    """The one document in `source`; an empty one is {}. Never raises: whatever is wrong stands in `problems`."""
    marked = Marked(file, {})
    text = _decoded(source, marked)
    if text is None:
        return marked
    try:
        _Reader(marked, yaml.parse(text, Loader=_Loader)).document()
    except _TooMuchError as error:
        marked.problems.append(problem(_place(file, error.mark), "", str(error), "split or simplify it"))
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        marked.problems.append(_syntax_problem(error, text, file))
    return marked


class _TooMuchError(Exception):
    def __init__(self, message: str, mark: Any) -> None:
        super().__init__(message)
        self.mark = mark


@dataclass
class _Anchor:
    data: Any
    size: int


class _Reader:
    """Builds the data from parser events: no third-party constructor ever runs on what a file says."""

    def __init__(self, marked: Marked, events: _Events) -> None:
        self.marked = marked
        self.events = events
        self.nodes = 0
        self.anchors: dict[str, _Anchor] = {}

    def document(self) -> None:
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                break
        else:
            return
        self.marked.data = self.node(next(self.events), ())
        if self.marked.data is None:
            self.marked.data = {}
        next(self.events)
        if isinstance(extra := next(self.events), yaml.DocumentStartEvent):
            self.note(extra, (), "a second document begins here", "keep one document in a file")

    def note(self, event: Any, path: KeyPath, message: str, hint: str) -> None:
        self.marked.problems.append(problem(_place(self.marked.file, event.start_mark), dotted(path), message, hint))
        self.marked.bad.add(path)

    def node(self, event: Any, path: KeyPath) -> Any:
        self.marked.values.setdefault(path, _place(self.marked.file, event.start_mark))
        if len(path) > MAX_DEPTH:
            raise _TooMuchError(f"more than {MAX_DEPTH} levels", event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, path)
        before = self.nodes
        self.count(1, event)
        if event.tag not in (None, "!"):
            self.note(event, path, f"tags such as {event.tag} are not taken", "write the plain value")
        data: Any
        if isinstance(event, yaml.MappingStartEvent):
            data = self.mapping(path)
        elif isinstance(event, yaml.SequenceStartEvent):
            data = self.sequence(path)
        else:
            data = self.scalar(event, path)
        if event.anchor:
            self.anchors[event.anchor] = _Anchor(data, self.nodes - before)
        return data

    def count(self, nodes: int, event: Any) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise _TooMuchError(f"more than {MAX_NODES:,} values (aliases counted in full)", event.start_mark)

    def alias(self, event: Any, path: KeyPath) -> Any:
        anchor = self.anchors.get(event.anchor)
        if anchor is None:
            self.note(event, path, f"there is no finished anchor &{event.anchor} before this", "write the value out")
            return None
        self.count(anchor.size, event)
        return anchor.data

    def sequence(self, path: KeyPath) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.node(event, (*path, len(items))))
        return items

    def mapping(self, path: KeyPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.key(event, path)
            here = (*path, key)
            again = key in found
            if again:
                first = self.marked.keys[here]
                self.note(event, here, f"{key!r} is set twice", f"first in line {first.line}; keep one")
            else:
                self.marked.keys[here] = _place(self.marked.file, event.start_mark)
            value = self.node(next(self.events), here)
            found.setdefault(key, value)
        return found

    def key(self, event: Any, path: KeyPath) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            self.note(event, path, "a key must be text", "write 'key: value'")
            self.node(event, (*path, "?"))
            return "?"
        key = self.scalar(event, (*path, event.value), is_key=True)
        return key if isinstance(key, str) else str(event.value)

    def scalar(self, event: Any, path: KeyPath, *, is_key: bool = False) -> Any:
        value: str = event.value
        if found := _UNPRINTABLE.search(value):
            self.note(event, path, f"the character U+{ord(found.group()):04X} is not taken in a text", "remove it")
        quoted = not event.implicit[0]
        if quoted:
            return value
        data, doubt = _plain(value)
        if doubt or (is_key and not isinstance(data, str)):
            what = f"{value} is {doubt} to some readers of YAML" if doubt else f"the key {value or 'here'} is not text"
            self.note(event, path, what, f'put it in quotes: "{value}"' + _or_boolean(value))
        return value if is_key else data


def _plain(value: str) -> tuple[Any, str]:
    """What an unquoted scalar means, and as what else YAML readers might take it (empty: they agree)."""
    if value in _WORDS:
        return _WORDS[value], ""
    if _INT.fullmatch(value):
        return int(value), ""
    if _FLOAT.fullmatch(value):
        return float(value), ""
    if _VERSION.fullmatch(value):
        return value, ""
    tag = _implicit_tag(value)
    if value.lower() in _BOOLEANS or tag.endswith(":bool"):
        return value, "true or false"
    if _NUMBER_LIKE.fullmatch(value) or tag != _TEXT_TAG:
        return value, _KINDS.get(tag.rpartition(":")[2], "a number")
    return value, ""


def _implicit_tag(value: str) -> str:
    resolvers = yaml.resolver.Resolver.yaml_implicit_resolvers
    candidates = [*resolvers.get(value[0], ()), *resolvers.get(None, ())]
    return next((tag for tag, pattern in candidates if pattern.match(value)), _TEXT_TAG)


def _or_boolean(value: str) -> str:
    meant = _BOOLEANS.get(value.lower())
    return f", or write {meant}" if meant else ""


def _decoded(source: bytes, marked: Marked) -> str | None:
    if len(source) > MAX_BYTES:
        marked.add((), f"the file has {len(source):,} bytes, more than {MAX_BYTES:,}", "split or simplify it")
        return None
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        good = source[: error.start].decode("utf-8-sig")
        marked.problems.append(
            problem(_position(marked.file, good, len(good)), "", "not UTF-8 from here on", "save the file as UTF-8")
        )
        return None
    if found := _UNPRINTABLE.search(text):
        place = _position(marked.file, text, found.start())
        sign = f"U+{ord(found.group()):04X}"
        marked.problems.append(problem(place, "", f"the character {sign} is not taken in YAML", "remove it"))
        return None
    return text


def _syntax_problem(error: Exception, text: str, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = _place(file, mark)
    line = text.splitlines()[place.line - 1] if 0 < place.line <= len(text.splitlines()) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return problem(place, "", "a tab in the indentation", "indent with spaces")
    what = getattr(error, "problem", None) or str(error) or type(error).__name__
    context = getattr(error, "context", None)
    message = f"this is not YAML: {what}" + (f" ({context})" if context else "")
    hint = (
        'a text with ": " or " #" in it needs quotes' if "mapping values" in message else "see the line before it too"
    )
    return problem(place, "", message, hint)


def _place(file: str, mark: Any) -> Place:
    return Place(file, mark.line + 1, mark.column + 1) if mark is not None else Place(file)


def _position(file: str, text: str, offset: int) -> Place:
    before = text[:offset]
    return Place(file, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def _upwards(path: KeyPath) -> Iterator[KeyPath]:
    for end in range(len(path), -1, -1):
        yield path[:end]
