"""A section before it is known what fits: its items in rank order, and the frame that stands around those that do."""

from collections.abc import Callable
from dataclasses import dataclass

from kai.model.context import Verdict

ADMISSIBLE = frozenset({Verdict.SUBMITTED, Verdict.TRUNCATED})


@dataclass(frozen=True, slots=True)
class Item:
    """One considered thing: it stands in the block whole, as `text`, or not at all.

    `verdict` is what it becomes when it is admitted; with ``LEFT_OUT`` or ``OMITTED_BOUNDS`` it never is.
    """

    kind: str
    id: str
    text: str = ""
    revision: int = 0
    required: bool = False
    verdict: Verdict = Verdict.SUBMITTED
    reason: str = ""
    parts: str = ""


Frame = Callable[[tuple[Item, ...]], tuple[str, str]]


def bare(_admitted: tuple[Item, ...]) -> tuple[str, str]:
    """No frame: the items speak for themselves."""
    return "", ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A section to be. `frame` gives what stands before and behind the admitted items; empty parts are left out.

    A required draft stands with its frame even when no item is admitted. `newest_first` says that the rank runs
    against the reading order, as in a history.
    """

    name: str
    items: tuple[Item, ...] = ()
    frame: Frame = bare
    required: bool = False
    stable: bool = False
    newest_first: bool = False

    def text(self, admitted: tuple[Item, ...]) -> str:
        """The section's text; empty when there is nothing to say."""
        head, tail = self.frame(admitted)
        items = reversed(admitted) if self.newest_first else admitted
        return "\n".join(part for part in (head, *(item.text for item in items), tail) if part)


def left_out(name: str, kind: str, item_id: str, reason: str) -> Draft:
    """A draft that stands for what a rule keeps out: no text, one disposition."""
    return Draft(name, (Item(kind, item_id, verdict=Verdict.LEFT_OUT, reason=reason),))


def fixed(name: str, kind: str, item_id: str, text: str, *, stable: bool = True) -> Draft:
    """A required section of one piece."""
    return Draft(name, (Item(kind, item_id, text, required=True),), required=True, stable=stable)
