"""YAML as plain data, with the position of every key and value, and none of YAML's surprises.

What readers of YAML take differently (``no``, ``0123``, ``10:00``, ``2026-11-30``) is an error that demands quotes;
so are duplicate keys, tags, tabs, a second document, and whatever is too large or too deep.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from kai.settings.problems import Place, Problem, problem

KeyPath = tuple[str | int, ...]
MAX_BYTES = 256 * 1024
MAX_DEPTH = 16
MAX_NODES = 20_000  # an alias counts as all that it stands for, so that a "billion laughs" ends here

_Loader: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "true": "true"} | dict.fromkeys(
    ("no", "off", "n", "false"), "false"
)
_INT = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]{0,17})\.[0-9]{1,18}")
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][-+0-9_:]*\.?[0-9_]*|[-+]?0[xXoObB][0-9a-fA-F_]+|[-+]?[0-9.]+[eE][-+]?[0-9]+")
_UNPRINTABLE = re.compile(r"[^\x09\x0A\x0D\x20-\x7E\x85\xA0-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
_TEXT_TAG = "tag:yaml.org,2002:str"
_DOUBT = " to some readers of YAML"
_KINDS = {"bool": "true or false", "timestamp": "a date", "merge": "a merge", "value": "a default", "null": "nothing"}


@dataclass
class Marked:
    """Plain data (dict, list, str, int, float, bool, None) with the place of each value and key, by path."""

    file: str
    data: Any = None
    values: dict[KeyPath, Place] = field(default_factory=dict)
    keys: dict[KeyPath, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    bad: set[KeyPath] = field(default_factory=set)  # what has a problem already

    def at(self, path: KeyPath) -> Any:
        """The data at a path that is there."""
        data = self.data
        for part in path:
            data = data[part]
        return data

    def place(self, path: KeyPath, *, at_key: bool = False) -> Place:
        """Where the value (or its key) stands, else the nearest thing around it."""
        if at_key and path in self.keys:
            return self.keys[path]
        return next((self.values[each] for each in _upwards(path) if each in self.values), Place(self.file))

    def is_bad(self, path: KeyPath) -> bool:
        """Something at `path`, or around it, has a problem already."""
        return any(each in self.bad for each in _upwards(path))

    def add(self, path: KeyPath, message: str, hint: str = "", *, at_key: bool = False) -> None:
        """Note a problem at a path, unless there is one already: each thing that is wrong is told once."""
        if not self.is_bad(path):
            self.problems.append(problem(self.place(path, at_key=at_key), dotted(path), message, hint))
            self.bad.add(path)

    def amend(self, path: KeyPath, hint: str) -> None:
        """Give what readers of YAML doubt at `path` the mend of somebody who knows what belongs there."""
        self.problems = [
            replace(each, hint=hint) if each.path == dotted(path) and each.message.endswith(_DOUBT) else each
            for each in self.problems
        ]

    def refuse(self, place: Place, message: str, hint: str) -> None:
        """Note a problem that leaves nothing of the file to look at."""
        self.problems.append(problem(place, "", message, hint))
        self.bad.add(())


def dotted(path: KeyPath) -> str:
    """``("people", "ann", 0)`` as ``people.ann[0]``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def parse(source: bytes, file: str) -> Marked:
    """The one document in `source`; an empty one is {}. Never raises: whatever is wrong stands in `problems`."""
    marked = Marked(file, {})
    text = _decoded(source, marked)
    try:
        _Reader(marked, yaml.parse(text, Loader=_Loader)).document()
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        place = _place(file, getattr(error, "problem_mark", None) or getattr(error, "context_mark", None))
        marked.refuse(place, *_syntax_problem(error, text.splitlines()[place.line - 1 : place.line]))
    return marked


@dataclass
class _Reader:
    """Builds the data from parser events: no constructor of YAML ever runs on what a file says."""

    marked: Marked
    events: Iterator[Any]
    nodes: int = 0
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)  # data, and how many values it stands for

    def document(self) -> None:
        next(self.events)
        if isinstance(next(self.events), yaml.DocumentStartEvent):
            data = self.node(next(self.events), ())
            self.marked.data = {} if data is None else data
            next(self.events)
            if isinstance(extra := next(self.events), yaml.DocumentStartEvent):
                place = _place(self.marked.file, extra.start_mark)
                self.marked.refuse(place, "a second document begins here", "keep one document in a file")

    def count(self, nodes: int, event: Any) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            told = f"more than {MAX_NODES:,} values, aliases counted in full"
            raise yaml.MarkedYAMLError(problem=told, problem_mark=event.start_mark)

    def node(self, event: Any, path: KeyPath) -> Any:
        self.marked.values[path] = _place(self.marked.file, event.start_mark)
        if len(path) > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"more than {MAX_DEPTH} levels", problem_mark=event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, path)
        before = self.nodes
        self.count(1, event)
        if event.tag not in (None, "!"):
            self.marked.add(path, f"tags such as {event.tag} are not taken", "write the plain value")
        data: Any
        if isinstance(event, yaml.MappingStartEvent):
            data = self.mapping(path)
        elif isinstance(event, yaml.SequenceStartEvent):
            data = self.sequence(path)
        else:
            data = self.scalar(event, path)
        if event.anchor:
            self.anchors[event.anchor] = data, self.nodes - before
        return data

    def alias(self, event: Any, path: KeyPath) -> Any:
        if event.anchor not in self.anchors:
            self.marked.add(path, f"there is no finished anchor &{event.anchor} before this", "write the value out")
            return None
        data, size = self.anchors[event.anchor]
        self.count(size, event)
        return data

    def sequence(self, path: KeyPath) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.node(event, (*path, len(items))))
        return items

    def mapping(self, path: KeyPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            here = (*path, event.value if isinstance(event, yaml.ScalarEvent) else "?")
            first = self.marked.keys.get(here)
            self.marked.keys[here] = _place(self.marked.file, event.start_mark)
            if first:
                self.marked.add(here, f"{here[-1]!r} is set twice", f"first in line {first.line}", at_key=True)
            if isinstance(event, yaml.ScalarEvent):
                self.scalar(event, here, is_key=True)
            else:
                self.marked.add(here, "a key must be text", "write 'key: value'", at_key=True)
                self.node(event, here)
            found[str(here[-1])] = self.node(next(self.events), here)
        return found

    def scalar(self, event: Any, path: KeyPath, *, is_key: bool = False) -> Any:
        value: str = event.value
        if found := _UNPRINTABLE.search(value):
            self.marked.add(path, f"the character U+{ord(found.group()):04X} is not taken", "remove it", at_key=is_key)
        if not event.implicit[0]:  # it is quoted, or a block
            return value
        data, doubt = _plain(value)
        if doubt or (is_key and not isinstance(data, str)):
            what = f"{value} is {doubt}{_DOUBT}" if doubt else f"the key {value or 'here'} is not text"
            meant = f", or write {_BOOLEANS[value.lower()]}" if value.lower() in _BOOLEANS else ""
            self.marked.add(path, what, f'put it in quotes: "{value}"{meant}', at_key=is_key)
        return data


def _plain(value: str) -> tuple[Any, str]:
    """What an unquoted scalar means, and as what else readers of YAML might take it (empty: they agree)."""
    if value in _WORDS:
        return _WORDS[value], ""
    if _INT.fullmatch(value):
        return int(value), ""
    if _FLOAT.fullmatch(value):
        return float(value), ""
    resolvers = yaml.resolver.Resolver.yaml_implicit_resolvers
    candidates = [*resolvers.get(value[0], ()), *resolvers.get(None, ())]
    tag = next((tag for tag, pattern in candidates if pattern.match(value)), _TEXT_TAG)
    if value.lower() in _BOOLEANS:
        return value, _KINDS["bool"]
    doubtful = tag != _TEXT_TAG or _NUMBER_LIKE.fullmatch(value)
    return value, _KINDS.get(tag.rpartition(":")[2], "a number") if doubtful else ""


def _decoded(source: bytes, marked: Marked) -> str:
    """The text; empty when it cannot be one."""
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _position(marked.file, source[: error.start].decode(errors="replace"))
        marked.refuse(place, "not UTF-8 from here on", "save the file as UTF-8")
        return ""
    if len(source) > MAX_BYTES:
        marked.refuse(Place(marked.file), f"the file has more than {MAX_BYTES:,} bytes", "split or simplify it")
    elif found := _UNPRINTABLE.search(text):
        told = f"the character U+{ord(found.group()):04X} is not taken"
        marked.refuse(_position(marked.file, text[: found.start()]), told, "remove it")
    return "" if marked.problems else text


def _syntax_problem(error: Exception, lines: list[str]) -> tuple[str, str]:
    if any("\t" in line[: len(line) - len(line.lstrip())] for line in lines):
        return "a tab in the indentation", "indent with spaces"
    what = getattr(error, "problem", None) or str(error)
    hint = 'a text with ": " or " #" in it needs quotes' if "mapping values" in what else "look at the line before, too"
    return f"this is not YAML that kai takes: {what}", hint


def _place(file: str, mark: Any) -> Place:
    return Place(file, mark.line + 1, mark.column + 1) if mark is not None else Place(file)


def _position(file: str, before: str) -> Place:
    return Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _upwards(path: KeyPath) -> Iterator[KeyPath]:
    return (path[:end] for end in range(len(path), -1, -1))
