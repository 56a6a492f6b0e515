"""A small household for the tests of the store: two persons, a channel, and short ways to bring about turns."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from kai.model.context import ContextBlock, Section
from kai.model.events import Ask, Choice, ChoiceKind
from kai.model.ids import AskId, DispatchId, PrincipalId, RunId, SessionId, TurnId, fresh
from kai.model.messages import Accepted, InboundMessage
from kai.model.people import Address, Channel, Person
from kai.model.states import DispatchState, TurnState
from kai.model.turns import DeliveryKind, Dispatch, NewDelivery, Outcome, Question, SessionRow
from kai.store import channels, messages, opening, people, questions, sessions, turns
from kai.store.binding import Connection
from kai.store.migrate import migrate, shipped

ANN = PrincipalId("p-ann")
BOB = PrincipalId("p-bob")
START = datetime(2026, 11, 30, 17, 41, tzinfo=UTC)
BLOCK = ContextBlock((Section("agent", "[Agent: house]", required=True, stable=True),), "words", (), 5)
CHOICES = (Choice("1", "Allow once", ChoiceKind.ALLOW_ONCE), Choice("2", "Reject", ChoiceKind.REJECT_ONCE))


def empty_database(path: Path | str = ":memory:") -> Connection:
    """A migrated database without a row, in memory unless a path is given."""
    db = opening.connect_to(Path(path), busy_s=1)
    migrate(db, Path(path), shipped(), START)
    db.execute("PRAGMA foreign_keys = ON")
    return db


@dataclass
class House:
    """Every call is a minute later than the one before."""

    db: Connection
    main: Channel
    door: Address
    minutes: int = 0
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    @property
    def now(self) -> datetime:
        self.minutes += 1
        return START + timedelta(minutes=self.minutes)

    def inbound(self, text: str = "hello", external_id: str = "", **more: object) -> InboundMessage:
        fields: dict[str, object] = {
            "bridge": self.door.bridge,
            "chat": self.door.chat,
            "thread": self.door.thread,
            "sender": "ann",
            "external_id": external_id or f"e{next(self.numbers)}",
            "text": text,
            **more,
        }
        return InboundMessage(**fields)  # type: ignore[arg-type]

    def accept(self, text: str = "hello", external_id: str = "", **more: object) -> Accepted:
        inbound = self.inbound(text, external_id, **more)
        return messages.accept(self.db, inbound, self.door, ANN, "Ann", self.now, queue_bound=1000)

    def queued(self, text: str = "hello") -> TurnId:
        turn = self.accept(text).turn
        assert turn is not None
        return turn

    def session(self, **more: object) -> SessionId:
        session = SessionId(fresh("k"))
        fields: dict[str, object] = {
            "session": session,
            "channel": self.main.channel,
            "principal": ANN,
            "backend": "claude",
            "epoch": "e1",
            "workspace": "/home/ann",
            "native_id": "",
            "turns": 0,
            "state": "live",
            "created_at": START,
            "used_at": START,
            **more,
        }
        sessions.open(self.db, SessionRow(**fields))  # type: ignore[arg-type]
        return session

    def begin(self, turn: TurnId, session: SessionId | None = None, block: ContextBlock = BLOCK) -> DispatchId:
        """A prepared attempt."""
        attempt = turns.get(self.db, turn).attempts + 1
        dispatch = Dispatch(
            DispatchId(fresh("d")),
            turn,
            attempt,
            DispatchState.PREPARED,
            "claude",
            "opus",
            session or self.session(),
            RunId(fresh("r")),
            "e1",
            attempt == 1,
            self.now,
        )
        turns.begin(self.db, turn, dispatch, block, self.now)
        return dispatch.dispatch

    def sent(self, turn: TurnId, session: SessionId | None = None, block: ContextBlock = BLOCK) -> DispatchId:
        """An attempt whose bytes are being written."""
        dispatch = self.begin(turn, session, block)
        turns.mark_sent(self.db, dispatch, "f" * 64, self.now)
        return dispatch

    def finish(self, turn: TurnId, dispatch: DispatchId | None = None, outcome: Outcome | None = None) -> None:
        done = outcome or Outcome(TurnState.DONE, text="the answer", native_id="native-1")
        turns.finish(self.db, turn, dispatch, done, self.telling(done), "kai", self.now)

    def telling(self, outcome: Outcome) -> tuple[NewDelivery, ...]:
        return (NewDelivery(self.door.address, DeliveryKind.ANSWER, outcome.text),) if outcome.text else ()

    def ask(self, turn: TurnId, dispatch: DispatchId, *, free_text: bool = False) -> AskId:
        return self.question(turn, dispatch, free_text=free_text).ask

    def question(self, turn: TurnId, dispatch: DispatchId, *, free_text: bool = False) -> Question:
        asked = Ask("driver-7", "Run a command?", "rm -r build", CHOICES, free_text=free_text)
        soon = self.now + timedelta(minutes=15)
        return questions.ask(self.db, turn, dispatch, asked, self.door.address, soon, self.now)


def furnish(db: Connection) -> House:
    """Ann and Bob, Ann's own channel, and a door to it."""
    for principal, name in ((ANN, "Ann"), (BOB, "Bob")):
        people.add(db, Person(principal, name, name.lower()), START)
    main = channels.private_of(db, ANN, START)
    door = channels.bind(db, "telegram", "chat-1", "", main.channel)
    return House(db, main, door)
