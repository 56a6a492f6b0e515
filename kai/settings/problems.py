"""What is wrong with a file of the configuration, and where."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from kai.model.errors import KaiError


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file. Lines and columns count from 1; 0 means the whole file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `path` is dotted (``context.history.messages``), empty for the file itself."""

    file: str
    line: int
    column: int
    path: str
    message: str
    hint: str = ""

    @property
    def place(self) -> Place:
        return Place(self.file, self.line, self.column)

    def __str__(self) -> str:
        where = f"{self.place}: {self.path}: " if self.path else f"{self.place}: "
        return f"{where}{self.message}" + (f" ({self.hint})" if self.hint else "")


def problem(place: Place, path: str, message: str, hint: str = "") -> Problem:
    """A problem at a place."""
    return Problem(place.file, place.line, place.column, path, message, hint)


@dataclass
class ConfigError(KaiError):
    """The configuration cannot be used. `problems` holds everything that is wrong in all files, never empty."""

    problems: tuple[Problem, ...]

    @property
    def sentence(self) -> str:
        first = str(self.problems[0])
        more = len(self.problems) - 1
        return f"{first} (and {more} more)" if more else first

    @property
    def hint(self) -> str:
        return "Correct it and run 'kai check-config', which lists every problem."


@dataclass
class FolderError(KaiError):
    """A folder of kai cannot be used. `trouble` says who lacks what."""

    path: str
    trouble: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.path}: {self.trouble}."

    @property
    def hint(self) -> str:
        return self.remedy


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that `name` was most likely meant to be; empty when none is near."""
    by_fold = {candidate.casefold().replace("-", "_"): candidate for candidate in known}
    found = get_close_matches(name.casefold().replace("-", "_"), by_fold, n=1, cutoff=0.6)
    return by_fold[found[0]] if found else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint: the nearest known name, else all that are known."""
    names = sorted(known)
    near = nearest(name, names)
    if near:
        return f"did you mean {near!r}?"
    return f"known: {', '.join(names)}" if names else ""
