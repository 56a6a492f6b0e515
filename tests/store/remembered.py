"""Short ways to bring about records in the household of the store's tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kai.model.agents import Policy
from kai.model.ids import ChannelId, PrincipalId
from kai.model.memory import Kind, MemoryReceipt, NewRecord, Record, Scope
from kai.model.people import ChannelKind
from kai.store import channels, eligible, records, shelves, vectors
from tests.store.house import ANN, BOB, House

POLICY = Policy()


@dataclass
class Memory:
    """Ann's memory in her own channel; each call is an operation of its own."""

    house: House
    numbers: list[int] = field(default_factory=lambda: [0])

    @property
    def db(self) -> Any:
        return self.house.db

    @property
    def op(self) -> str:
        self.numbers[0] += 1
        return f"op-{self.numbers[0]}"

    def scope(self, principal: PrincipalId = ANN, channel: ChannelId | None = None, **more: Any) -> Scope:
        if channel is None:
            channel = channels.private_of(self.db, principal, self.house.now).channel
        return Scope(principal, channel, **more)

    def room(self, *members: PrincipalId) -> ChannelId:
        return channels.create(
            self.db, ChannelKind.SHARED, "Kitchen", None, members or (ANN, BOB), self.house.now
        ).channel

    def save(self, text: str, scope: Scope | None = None, **more: Any) -> MemoryReceipt:
        new = NewRecord(text, Kind(more.pop("kind", "fact")), **more)
        return records.save(self.db, scope or self.scope(), new, self.op, self.house.now)

    def kept(self, text: str, scope: Scope | None = None, **more: Any) -> str:
        """The id of a record that was surely kept."""
        receipt = self.save(text, scope, **more)
        assert receipt.is_done, receipt
        return receipt.record

    def correct(self, record: str, text: str, base: int | None = None, scope: Scope | None = None) -> MemoryReceipt:
        return records.correct(self.db, scope or self.scope(), record, text, base, self.op, self.house.now)

    def forget(self, record: str, base: int | None = None, scope: Scope | None = None) -> MemoryReceipt:
        return records.forget(self.db, scope or self.scope(), record, base, self.op, self.house.now)

    def get(self, record: str, scope: Scope | None = None) -> Record:
        return records.get(self.db, scope or self.scope(), record)

    def found(self, words: str, scope: Scope | None = None, patterns: tuple[str, ...] = POLICY.tool) -> list[str]:
        """Texts that a search gives here, the best first."""
        here = eligible.place(self.db, scope or self.scope(), patterns)
        scores = matches(self.db, here.shelves, words, 200)
        standing = eligible.current(self.db, here, scores, self.house.now)
        return [one.text for one in sorted(standing.values(), key=lambda one: -scores[one.seq])]


def matches(db: Any, names: Sequence[str], words: str, limit: int) -> dict[int, float]:
    """What these shelves hold of these words, with its scores."""
    return shelves.matches(db, [one.number for one in vectors.spaces(db, names)], words, limit, {})


def everything(db: Any) -> str:
    """All that any table holds, shadow tables of indexes too."""
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    return "\n".join(
        str(value) for (name,) in tables.fetchall() for row in db.execute(f"SELECT * FROM {name}") for value in row
    )
