"""The text of a Codex turn: what was shown of it, and what Codex stands by.

Deltas are for showing; a message's text in its ``item/completed`` is the truth. A message that was begun may never be
completed: a stream that was cut is begun anew under another id, and a steered reply is dropped. What has been shown
cannot be taken back, so a new attempt is held back for as long as it says the same again; where it says something
else, that is shown below, and the end of the turn names the whole text (`corrected`).
"""

from dataclasses import dataclass, field

from kai.model.events import TextDelta


@dataclass
class Answer:
    """That of one turn."""

    _done: dict[str, str] = field(default_factory=dict)  # id of a completed message → its text
    _open: str = ""  # id of the message that is being said
    _pieces: list[str] = field(default_factory=list)  # shown since the last completed one, without the blank line
    _again: str | None = None  # those pieces, while another attempt repeats them
    _at: int = 0  # how far it has come in them
    _shown: bool = False
    _torn: bool = False  # what was shown is not the whole text

    @property
    def is_empty(self) -> bool:
        return not (self._shown or any(self._done.values()))

    @property
    def corrected(self) -> str:
        """The whole text where it differs from what was shown, else empty. What of a message was cut belongs to it."""
        parts = (*self._done.values(), "".join(self._pieces))
        return "\n\n".join(part for part in parts if part) if self._torn else ""

    def delta(self, message: str, said: str) -> list[TextDelta]:
        """A piece of a message; gives what of it is new to the reader."""
        if not said or message in self._done:
            return []
        self._turn_to(message)
        if self._again is None:
            return self._show(said)
        known = self._again[self._at : self._at + len(said)]
        if said == known:
            self._at += len(said)
            return []
        if said.startswith(known):
            self._again = None
            return self._show(said[len(known) :])
        return self._show_anew(self._again[: self._at] + said)

    def complete(self, message: str, text: str) -> list[TextDelta]:
        """A message as it stands; gives what of it has not been shown."""
        if message in self._done:
            return []
        self._turn_to(message)
        shown, out = "".join(self._pieces), list[TextDelta]()
        if text.startswith(shown):
            out = self._show(text[len(shown) :])
        elif self._again is None or shown.startswith(text):
            self._torn = True
        else:
            out = self._show_anew(text)
        self._done[message] = text
        self._pieces.clear()
        self._open, self._again, self._at = "", None, 0
        return out

    def _turn_to(self, message: str) -> None:
        """Another message than the one that was being said: that one will not be completed."""
        if message != self._open:
            self._again = self._again or "".join(self._pieces) or None
            self._open, self._at = message, 0

    def _show_anew(self, said: str) -> list[TextDelta]:
        """Another attempt says something else than the one that was shown."""
        self._torn, self._again = True, None
        self._pieces.clear()
        return self._show(said)

    def _show(self, said: str) -> list[TextDelta]:
        if not said:
            return []
        gap = "\n\n" if self._shown and not self._pieces else ""
        self._shown = True
        self._pieces.append(said)
        return [TextDelta(gap + said)]
