"""What Codex tells of use: tokens, which it counts over a whole thread, and the provider's limits."""

from datetime import datetime
from typing import Any

from kai.model.events import Usage
from kai.protocols.classify import moment
from kai.wire.values import Json, amount, integer, record


class Meter:
    """Of one thread. A turn's use is what came on top of what was there before."""

    def __init__(self) -> None:
        self._limits: dict[str, Any] = {}
        self._total: tuple[int, int] | None = (
            None  # tokens in and out; None: of a thread that was taken up, not told yet
        )
        self._before: tuple[int, int] | None = None

    def open(self, *, is_new: bool) -> None:
        self._total = (0, 0) if is_new else None

    def begin(self) -> None:
        """A turn begins."""
        self._before = self._total

    def count(self, params: Json) -> Usage:
        """A ``thread/tokenUsage/updated``, as use of the turn so far. It comes after every call, and again."""
        used = record(params.get("tokenUsage"))
        total, last = record(used.get("total")), record(used.get("last"))
        spent, call = _tokens(total), _tokens(last)
        if self._total is None:
            self._before = spent[0] - call[0], spent[1] - call[1]
        before = self._before or (0, 0)
        self._total = spent
        return Usage(
            input_tokens=max(0, spent[0] - before[0]) or None,
            output_tokens=max(0, spent[1] - before[1]) or None,
            window_tokens=integer(used.get("modelContextWindow")),
            used_tokens=integer(last.get("totalTokens")),
        )

    def limit(self, update: Json) -> bool:
        """Keep an update of the limits, which says only what changed; True when one is reached."""
        self._limits |= {name: value for name, value in update.items() if value is not None}
        return bool(update.get("rateLimitReachedType"))

    def resets_at(self) -> datetime | None:
        """When the last of the limits that are used up ends."""
        windows = [record(self._limits.get(name)) for name in ("primary", "secondary")]
        used_up = [amount(one.get("resetsAt")) or 0 for one in windows if (amount(one.get("usedPercent")) or 0) >= 100]
        return moment(max(used_up, default=None))


def _tokens(usage: Json) -> tuple[int, int]:
    return integer(usage.get("inputTokens")) or 0, integer(usage.get("outputTokens")) or 0
