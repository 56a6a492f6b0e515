"""Admission: what is required is reserved, then whole optional items are fitted in section order, then rank.

Nothing is cut to fit. Within a section the first item that does not fit ends it, so that rank order is kept, unless
``fit_smaller`` lets smaller ones follow; a history never has holes. Ranks compare only within a section: an
oversized memory takes no room from the line with the date. Only the cap decides what fits: it is the same for every
backend, and so is the block. A backend's window can do no more than refuse the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kai.context.draft import ADMISSIBLE, Draft, Item
from kai.context.tokens import estimate
from kai.model.context import MARKER, SEPARATOR, Budget, Disposition, Section, Verdict
from kai.model.errors import ContextBudgetError

_MARGIN = 6, 5  # the estimate times 1.2 must fit


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes of UTF-8 and estimated tokens."""

    bytes: int = 0
    tokens: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(self.bytes + other.bytes, self.tokens + other.tokens)


_NOTHING = Size()


def size_of(text: str) -> Size:
    return Size(len(text.encode()), estimate(text)) if text else _NOTHING


_BREAK = size_of("\n")
_SEPARATOR = size_of(SEPARATOR)
_MARKER = size_of(MARKER + "\n")


class _Filling:
    """One draft while it fills: what is in it, and what it takes of the room (nothing while it is closed)."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.sizes = {id(item): size_of(item.text) for item in draft.items}
        self.admitted = tuple(item for item in draft.items if item.required and item.verdict in ADMISSIBLE)
        self._inside = sum((self.sizes[id(item)] + _BREAK for item in self.admitted), Size())
        self.takes = self._with_frame(self.admitted, self._inside) if draft.required or self.admitted else Size()

    def grow(self, items: Sequence[Item], room: "_Room") -> bool:
        """Admit all of `items` if there is room for all of them with the frame that they need."""
        admitted = (*self.admitted, *items)
        inside = sum((self.sizes[id(item)] + _BREAK for item in items), self._inside)
        takes = self._with_frame(admitted, inside)
        if fits := room.take(self.takes, takes):
            self.admitted, self._inside, self.takes = admitted, inside, takes
        return fits

    def _with_frame(self, admitted: tuple[Item, ...], inside: Size) -> Size:
        head, tail = self.draft.frame(admitted)
        if not admitted and not head and not tail:
            return Size()
        return inside + size_of(head) + _BREAK + size_of(tail) + _BREAK + _SEPARATOR


class _Room:
    """What the budget leaves for one block."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.used = Size()

    @property
    def tokens_free(self) -> int:
        budget = self.budget
        return budget.window_tokens - budget.baseline_reserve_tokens - budget.reply_reserve_tokens

    @property
    def tokens_needed(self) -> int:
        """The estimate with its margin, or 0 when the window is not known."""
        over, under = _MARGIN
        return -(-self.used.tokens * over // under) if self.budget.window_tokens else 0

    @property
    def is_overdrawn(self) -> bool:
        is_too_wide = bool(self.budget.window_tokens) and self.tokens_needed > self.tokens_free
        return self.used.bytes > self.budget.block_cap_bytes or is_too_wide

    def take(self, instead_of: Size, size: Size) -> bool:
        """Let something grow from `instead_of` to `size`, if the cap allows it."""
        used = Size(self.used.bytes - instead_of.bytes + size.bytes, self.used.tokens - instead_of.tokens + size.tokens)
        if fits := used.bytes <= self.budget.block_cap_bytes:
            self.used = used
        return fits


def admit(drafts: Sequence[Draft], words: str, budget: Budget) -> tuple[tuple[Section, ...], tuple[Disposition, ...]]:
    """The sections that go along, and one disposition for every considered item but the words.

    Raises `ContextBudgetError` when what is required does not fit the cap, or all of it the backend's window.
    """
    fillings = [_Filling(draft) for draft in drafts]
    own, room = size_of(words), _Room(budget)
    room.used = sum((filling.takes for filling in fillings), _MARKER + own)
    _refuse_overdrawn(fillings, own, room)
    for filling in fillings:
        _fill(filling, room)
    _refuse_overdrawn(fillings, own, room)
    sections = []
    for filling in fillings:
        draft = filling.draft
        if filling.takes.bytes and (text := draft.text(filling.admitted)):
            sections.append(Section(draft.name, text, draft.required, draft.stable))
    return tuple(sections), tuple(row for filling in fillings for row in _dispositions(filling))


def _refuse_overdrawn(fillings: Sequence[_Filling], own: Size, room: _Room) -> None:
    if not room.is_overdrawn:
        return
    parts = [(filling.draft.name, filling.takes.bytes) for filling in fillings] + [("words", own.bytes)]
    largest = tuple(sorted(parts, key=lambda part: -part[1])[:3])
    known = bool(room.budget.window_tokens)
    raise ContextBudgetError(
        room.used.bytes,
        room.budget.block_cap_bytes,
        largest,
        tokens_needed=room.tokens_needed,
        tokens_free=room.tokens_free if known else 0,
    )


def _fill(filling: _Filling, room: _Room) -> None:
    optional = [item for item in filling.draft.items if not item.required and item.verdict in ADMISSIBLE]
    if filling.grow(optional, room):  # nearly always; else one after the other
        return
    for item in optional:
        if not filling.grow([item], room) and (filling.draft.newest_first or not room.budget.fit_smaller):
            break
    if not filling.admitted:
        filling.grow([], room)  # nothing of it went in: its frame may say so


def _dispositions(filling: _Filling) -> list[Disposition]:
    admitted = {id(item) for item in filling.admitted}
    rows = []
    for item in filling.draft.items:
        size = filling.sizes[id(item)]
        keeps = id(item) in admitted or item.verdict not in ADMISSIBLE
        rows.append(
            Disposition(
                filling.draft.name,
                item.kind,
                item.id,
                item.revision,
                size.bytes,
                size.tokens,
                item.verdict if keeps else Verdict.OMITTED_BUDGET,
                item.reason if keeps else "",
                item.parts,
            )
        )
    return rows
