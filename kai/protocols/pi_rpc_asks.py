"""The dialogs of Pi's extensions: those of kai's own gate, which ask whether a tool may run, and any others."""

from dataclasses import dataclass

from kai.model.events import Ask, AskWithdrawn, Choice, ChoiceKind
from kai.protocols.calls import arguments_of, once_or_not, target_of
from kai.protocols.driver import Output, Send, Skipped, Wake
from kai.wire.values import Json, amount, items, line_of, parse, record, text

_TOLD = frozenset({"notify", "setStatus", "setWidget", "setTitle", "set_editor_text"})  # wait for no answer
_NO_ANSWER = (Choice("none", "No answer", ChoiceKind.REJECT_ONCE),)
_GATE = {ChoiceKind.ALLOW_ONCE: "once", ChoiceKind.ALLOW_ALWAYS: "always"}


@dataclass(frozen=True)
class _Open:
    """A dialog that Pi waits on. `tool` is the id of the call that waits for it."""

    id: str
    method: str
    tool: str = ""


class Asks:
    """Open dialogs by our own short keys; a late or withdrawn one is simply not there."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, _Open] = {}

    def ask(self, msg: Json, *, anyone_there: bool) -> list[Output]:
        """An ``extension_ui_request``. When no person waits for the turn it is cancelled at once."""
        method, dialog = text(msg.get("method")), text(msg.get("id"))
        if method in _TOLD or not dialog:
            return []
        if not anyone_there:
            return [_cancelled(dialog)]
        self._count += 1
        key = f"q{self._count}"
        if (asked := _asked(key, method, msg)) is None:
            return [_cancelled(dialog), Skipped(f"dialog {method[:40]!r}")]
        gate = _gate(msg)
        self._open[key] = _Open(dialog, "gate" if gate else method, text(gate.get("id")))
        limit_ms = amount(msg.get("timeout"))  # Pi goes on by itself then, and does not say so
        return [asked, *([Wake(limit_ms / 1000, key)] if limit_ms and limit_ms > 0 else [])]

    def answer(self, ask: str, choice: Choice | None, words: str) -> list[Output]:
        item = self._open.pop(ask, None)
        if item is None:
            return []
        kind = choice.kind if choice is not None else ChoiceKind.REJECT_ONCE
        if item.method == "confirm":
            return [_reply(item.id, {"confirmed": kind in _GATE})]
        said = _GATE.get(kind, "deny") if item.method == "gate" else words
        if choice is not None and kind is ChoiceKind.ANSWER:
            said = said or choice.label
        return [_reply(item.id, {"value": said}) if said else _cancelled(item.id)]

    def cancel(self) -> list[Output]:
        """Nobody waits for the answers any more: Pi would, for ever."""
        return [out for key in list(self._open) for out in (_cancelled(self._open.pop(key).id), AskWithdrawn(key))]

    def timed_out(self, ask: str) -> list[Output]:
        return [AskWithdrawn(ask)] if self._open.pop(ask, None) else []

    def withdraw(self, tool: str) -> list[Output]:
        """The call ended, and with it its dialog."""
        return [
            out for key in [k for k, item in self._open.items() if item.tool == tool] for out in self.timed_out(key)
        ]


def _gate(msg: Json) -> Json:
    """What kai's gate asks about; empty for the dialog of any other extension."""
    return record(record(parse(text(msg.get("title")).encode())).get("kai.gate")) if msg.get("options") else {}


def _asked(key: str, method: str, msg: Json) -> Ask | None:
    title = text(msg.get("title"))
    match method:
        case "select" if gate := _gate(msg):
            name, about = text(gate.get("tool")) or "tool", target_of(gate.get("input"))
            always = f"Allow {name}({about}) in this session" if about else ""
            title, choices = f"{name}: {about}" if about else name, once_or_not(always)
            return Ask(key, title, arguments_of(gate.get("input")), choices, text(gate.get("id")))
        case "select":
            labels = [text(option) for option in items(msg.get("options"))]
            offered = tuple(Choice(str(n), label, ChoiceKind.ANSWER) for n, label in enumerate(labels, 1) if label)
            return Ask(key, title, "", (*offered, *_NO_ANSWER))
        case "confirm":
            return Ask(key, title, text(msg.get("message")), once_or_not())
        case "input" | "editor":
            detail = text(msg.get("placeholder")) or text(msg.get("prefill"))
            return Ask(key, title, detail, _NO_ANSWER, free_text=True)
    return None


def _cancelled(dialog: str) -> Send:
    return _reply(dialog, {"cancelled": True})


def _reply(dialog: str, answer: Json) -> Send:
    return Send(line_of({"type": "extension_ui_response", "id": dialog, **answer}))
