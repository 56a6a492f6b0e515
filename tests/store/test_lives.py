"""Any sequence of operations, legal or not, cut at any step by a crash, keeps what the store promises.

A crash is a rollback in the middle of a statement, before the commit, or right after it without an answer; each is
followed by a start, which may be cut as well.
"""

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kai.model.errors import KaiError
from kai.model.ids import AskId, ChannelId, DeliveryId, DispatchId, TurnId
from kai.model.people import ChannelKind
from kai.model.states import ENDED_TURNS, AskState, TurnState
from kai.model.turns import Outcome, Receipt, ReceiptOutcome
from kai.store import channels, deliveries, messages, opening, questions, turns
from kai.store.binding import Connection, Error
from tests.store.house import ANN, START, House, empty_database, furnish

LIVE = "('running', 'asking', 'held')"
ENDED = "('done', 'stopped', 'failed', 'interrupted')"

BROKEN_PROMISES = {
    "a channel runs one turn at a time": f"""
        SELECT channel FROM turn WHERE state IN {LIVE} GROUP BY channel HAVING count(*) > 1""",
    "a message has exactly one turn beside its retries": """
        SELECT m.message FROM message m LEFT JOIN turn t ON t.message = m.message AND t.retry_of IS NULL
        WHERE m.author = 'person' AND m.aside = 0 GROUP BY m.message HAVING count(t.turn) <> 1""",
    "numbers have no gap": """
        SELECT channel FROM message GROUP BY channel HAVING max(number) <> count(*) OR min(number) <> 1""",
    "nothing overtakes in a lane": """
        SELECT q.turn FROM turn q JOIN turn t ON t.channel = q.channel AND t.seq > q.seq AND t.attempts > 0
        WHERE q.state = 'queued'""",
    "attempts follow the lane": """
        SELECT turn FROM (SELECT t.turn, t.seq, max(t.seq) OVER (PARTITION BY t.channel ORDER BY d.prepared_at) AS top
        FROM dispatch d JOIN turn t ON t.turn = d.turn) WHERE seq < top""",
    "an end is told exactly once, by an answer or a notice": f"""
        SELECT t.turn FROM turn t LEFT JOIN delivery d ON d.turn = t.turn AND d.turn_state = t.state
        AND d.kind IN ('answer', 'notice') WHERE t.state IN {ENDED} GROUP BY t.turn HAVING count(d.delivery) <> 1""",
    "nothing but an end is told as one": f"""
        SELECT d.delivery FROM delivery d JOIN turn t ON t.turn = d.turn
        WHERE d.turn_state IS NOT NULL AND t.state NOT IN {ENDED}""",
    "a turn asks exactly while a question of it is open": """
        SELECT t.turn FROM turn t WHERE (t.state = 'asking')
        <> EXISTS (SELECT 1 FROM question q WHERE q.turn = t.turn AND q.state = 'open')""",
    "only a live turn has an open attempt": f"""
        SELECT t.turn FROM turn t JOIN dispatch d ON d.turn = t.turn
        WHERE d.state IN ('prepared', 'sent') AND t.state NOT IN {LIVE}""",
    "every attempt has its snapshot": """
        SELECT dispatch FROM dispatch WHERE snapshot IS NULL OR snapshot NOT IN (SELECT seq FROM snapshot)""",
    "an interrupted turn is not sent again": """
        SELECT t.turn FROM turn t JOIN dispatch d ON d.turn = t.turn GROUP BY t.turn
        HAVING sum(d.state = 'unknown') > 1 OR (sum(d.state = 'unknown') = 1 AND t.state <> 'interrupted')""",
    "a partial text belongs to a turn that has not ended": f"""
        SELECT p.turn FROM partial p JOIN turn t ON t.turn = p.turn WHERE t.state IN {ENDED}""",
    "of one lost delivery one notice is made": """
        SELECT about FROM delivery WHERE about IS NOT NULL GROUP BY about HAVING count(*) > 1""",
}

Cut = tuple[str, int]  # how an operation is cut, and after how many steps
Pick = tuple[int, bool]  # which row, and whether it must be one that the operation can work on
cuts = st.tuples(
    st.sampled_from(["none"] * 15 + ["within", "before the commit", "after the commit"]), st.integers(0, 40)
)
picks = st.tuples(st.integers(0, 30), st.sampled_from([True, True, True, False]))


class CrashError(Exception):
    """The process is gone."""


@cache
def template() -> bytes:
    """The file of a furnished database with two channels."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kai.db"
        with closing(empty_database(path)) as db:
            db.execute("BEGIN")
            furnish(db)
            side = channels.create(db, ChannelKind.PRIVATE, "Garden", ANN, (), START)
            channels.bind(db, "telegram", "chat-2", "", side.channel)
            db.execute("COMMIT")
        return path.read_bytes()


class Lives(RuleBasedStateMachine):
    """A daemon's life, and the next one's, and the next one's."""

    def __init__(self) -> None:
        super().__init__()
        # Hypothesis repeats a life exactly: its ids must be the same, for rows lie in their order.
        self.drawing = patch("kai.model.ids.secrets", SimpleNamespace(randbelow=Random(1).randrange))
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "kai.db"
        self.path.write_bytes(template())
        self.drawing.start()
        self.minutes = 0
        self.acknowledged: dict[tuple[str, str], tuple[object, object]] = {}
        self.ended: dict[str, str] = {}
        self.settled: set[str] = set()
        self.open()

    def open(self) -> None:
        db = opening.connect_to(self.path, busy_s=1)
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA journal_mode = MEMORY")
        doors = [channels.address(db, "telegram", chat, "") for chat in ("chat-1", "chat-2")]
        assert doors[0]
        assert doors[1]
        self.doors = (doors[0], doors[1])
        self.house = House(db, channels.get(db, doors[0].channel), doors[0], self.minutes)

    def teardown(self) -> None:
        db = self.house.db
        db.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        db.close()
        self.folder.cleanup()
        self.drawing.stop()

    # One transaction, and what may become of it

    def do(self, cut: Cut, work: Callable[[House], Any]) -> Any:
        """The answer of `work`; None when it was refused or its daemon crashed."""
        try:
            return self.transact(cut, work)
        except KaiError:
            return None
        except CrashError:
            self.start(cut)
            return None

    def transact(self, cut: Cut, work: Callable[[House], Any]) -> Any:
        crash, step = cut
        db = self.house.db
        db.execute("BEGIN IMMEDIATE")
        try:
            if crash == "within":
                left = iter(range(step))
                db.set_progress_handler(lambda: next(left, None) is None, 10)
            answer = work(self.house)
            db.set_progress_handler(None, 1)
            if crash == "before the commit":
                raise CrashError
            db.execute("COMMIT")
            if crash == "after the commit":
                raise CrashError
        except Error as error:
            if crash != "within":
                raise
            raise CrashError from error
        else:
            return answer
        finally:
            db.set_progress_handler(None, 1)
            with suppress(Error):
                db.execute("ROLLBACK")
            self.minutes = self.house.minutes

    def start(self, cut: Cut) -> None:
        """The next daemon; its recovery may be cut once."""
        for crash in ("within", "none") if cut[1] % 2 else ("none",):
            self.house.db.close()
            self.open()
            with suppress(CrashError):
                self.transact((crash, cut[1]), lambda house: turns.recover(house.db, house.now))
        live = self.house.db.execute(f"SELECT count(*) FROM turn WHERE state IN {LIVE}").fetchone()[0]
        assert live == 0

    def some(self, pick: Pick, table: str, fitting: str) -> str:
        """The key of a row that an operation can work on, or of any row; "none" when there is none."""
        at, fits = pick
        column = "ask" if table == "question" else table
        for condition in (fitting, "1") if fits else ("1",):
            rows = self.house.db.execute(f"SELECT {column} FROM {table} WHERE {condition}").fetchall()
            if rows:
                return str(rows[at % len(rows)][0])
        return "none"

    def some_turn(self, pick: Pick, fitting: str) -> TurnId:
        return TurnId(self.some(pick, "turn", fitting))

    def has(self, rows: str) -> bool:
        return self.house.db.execute(f"SELECT 1 FROM {rows} LIMIT 1").fetchone() is not None

    # What may happen

    @initialize(count=st.integers(2, 8), cut=cuts)
    def a_busy_morning(self, count: int, cut: Cut) -> None:
        for external_id in range(count):
            self.accept(external_id, external_id % 2, cut)

    @rule(external_id=st.integers(0, 12), door=st.integers(0, 1), cut=cuts)
    def accept(self, external_id: int, door: int, cut: Cut) -> None:
        address = self.doors[door]
        inbound = replace(self.house.inbound("hello there", f"e{external_id}"), chat=address.chat)
        accepted = self.do(
            cut, lambda house: messages.accept(house.db, inbound, address, ANN, "Ann", house.now, queue_bound=6)
        )
        if accepted:
            ids = (accepted.message, accepted.turn)
            assert self.acknowledged.setdefault((address.chat, inbound.external_id), ids) == ids

    @rule(pick=picks, cut=cuts)
    def begin(self, pick: Pick, cut: Cut) -> None:
        turn = self.some_turn(pick, "state IN ('queued', 'held', 'running')")
        self.do(cut, lambda house: house.begin(turn))

    @precondition(lambda self: self.has("turn WHERE state = 'queued'"))
    @rule(door=st.integers(0, 1), depth=st.integers(0, 2), cut=cuts)
    def run_the_next(self, door: int, depth: int, cut: Cut) -> None:
        following = turns.next_queued(self.house.db, self.doors[door].channel)
        if following is None:
            return
        dispatch = self.do(cut, lambda house: house.begin(following.turn))
        if dispatch and depth:
            self.do(cut, lambda house: turns.mark_sent(house.db, dispatch, "f", house.now))
        if dispatch and depth == 2:
            self.do(cut, lambda house: house.ask(following.turn, dispatch))

    @precondition(lambda self: self.has("dispatch WHERE state = 'prepared'"))
    @rule(pick=picks, cut=cuts)
    def write_the_frame(self, pick: Pick, cut: Cut) -> None:
        dispatch = DispatchId(self.some(pick, "dispatch", "state = 'prepared'"))
        self.do(cut, lambda house: turns.mark_sent(house.db, dispatch, "f", house.now))

    @precondition(lambda self: self.has("dispatch"))
    @rule(pick=picks, cut=cuts)
    def settle(self, pick: Pick, cut: Cut) -> None:
        dispatch = DispatchId(self.some(pick, "dispatch", "state IN ('prepared', 'sent')"))
        self.do(cut, lambda house: turns.settle(house.db, dispatch, house.now))

    @precondition(lambda self: self.has("dispatch WHERE state = 'sent'"))
    @rule(pick=picks, cut=cuts)
    def ask(self, pick: Pick, cut: Cut) -> None:
        dispatch = DispatchId(self.some(pick, "dispatch", "state = 'sent'"))
        row = self.house.db.execute("SELECT turn FROM dispatch WHERE dispatch = ?", (dispatch,)).fetchone()
        if row:
            self.do(cut, lambda house: house.ask(row[0], dispatch))

    @precondition(lambda self: self.has("question"))
    @rule(pick=picks, choice=st.sampled_from(["1", "2", "9"]), cut=cuts)
    def answer(self, pick: Pick, choice: str, cut: Cut) -> None:
        ask = AskId(self.some(pick, "question", "state = 'open'"))
        self.do(cut, lambda house: questions.answer(house.db, ask, choice, ANN, house.now))

    @precondition(lambda self: self.has("question"))
    @rule(pick=picks, state=st.sampled_from([AskState.EXPIRED, AskState.CANCELLED]), cut=cuts)
    def close(self, pick: Pick, state: AskState, cut: Cut) -> None:
        ask = AskId(self.some(pick, "question", "state = 'open'"))
        self.do(cut, lambda house: questions.close(house.db, ask, state, house.now))

    @rule(pick=picks, to=st.sampled_from(TurnState), cut=cuts)
    def move(self, pick: Pick, to: TurnState, cut: Cut) -> None:
        turn = self.some_turn(pick, f"state IN {LIVE}")
        self.do(cut, lambda house: turns.move(house.db, turn, to, house.now, reason="moved"))
        self.note_end(turn)

    @precondition(lambda self: self.has("dispatch"))
    @rule(pick=picks, text=st.sampled_from(["", "so far"]), cut=cuts)
    def save_partial(self, pick: Pick, text: str, cut: Cut) -> None:
        turn = self.some_turn(pick, f"state IN {LIVE}")
        self.do(cut, lambda house: turns.save_partial(house.db, turn, text, ("tool",)))

    @precondition(lambda self: self.has("dispatch"))
    @rule(pick=picks, state=st.sampled_from(sorted(ENDED_TURNS)), text=st.sampled_from(["", "so far"]), cut=cuts)
    def finish(self, pick: Pick, state: TurnState, text: str, cut: Cut) -> None:
        turn = self.some_turn(pick, f"state IN {LIVE}")
        self.do(cut, lambda house: house.finish(turn, None, Outcome(state, text, reason="because")))
        self.note_end(turn)

    @precondition(lambda self: self.has("turn WHERE ended_at IS NOT NULL"))
    @rule(pick=picks, cut=cuts)
    def retry(self, pick: Pick, cut: Cut) -> None:
        turn = self.some_turn(pick, f"state IN {ENDED}")
        self.do(cut, lambda house: turns.retry(house.db, turn, house.now))

    @precondition(lambda self: self.has("delivery"))
    @rule(limit=st.integers(1, 4), cut=cuts)
    def claim(self, limit: int, cut: Cut) -> None:
        claimed = self.do(cut, lambda house: deliveries.claim(house.db, "telegram", house.now, limit)) or ()
        assert not self.settled & {delivery.delivery for delivery in claimed}
        numbers = [delivery.number for delivery in claimed]
        assert numbers == sorted(numbers)

    @precondition(lambda self: self.has("delivery WHERE state <> 'pending'"))
    @rule(pick=picks, outcome=st.sampled_from(ReceiptOutcome), cut=cuts)
    def receipt(self, pick: Pick, outcome: ReceiptOutcome, cut: Cut) -> None:
        delivery = DeliveryId(self.some(pick, "delivery", "state = 'claimed'"))

        def give(house: House) -> bool:
            deliveries.receipt(house.db, delivery, "telegram", Receipt(outcome), house.now)
            return True

        if self.do(cut, give) and outcome is not ReceiptOutcome.UNSENT:
            self.settled.add(delivery)

    @precondition(lambda self: self.has("delivery WHERE state = 'claimed'"))
    @rule(after=st.none() | st.integers(0, 9), idempotent=st.booleans(), cut=cuts)
    def bridge_connects(self, after: int | None, idempotent: bool, cut: Cut) -> None:
        self.do(cut, lambda house: deliveries.reclaim(house.db, "telegram", after, idempotent, house.now))

    @precondition(lambda self: self.has("dispatch WHERE state IN ('prepared', 'sent')"))
    @rule(cut=cuts)
    def stop_and_start(self, cut: Cut) -> None:
        self.start(cut)

    def note_end(self, turn: TurnId) -> None:
        with suppress(KaiError):
            state = turns.get(self.house.db, turn).state
            if state in ENDED_TURNS:
                self.ended.setdefault(turn, state)

    # What always holds

    @invariant()
    def every_promise_is_kept(self) -> None:
        for promise, broken in BROKEN_PROMISES.items():
            assert self.house.db.execute(broken).fetchall() == [], promise

    @invariant()
    def what_was_acknowledged_is_there_once(self) -> None:
        for (chat, external_id), (message, turn) in self.acknowledged.items():
            rows = self.house.db.execute(
                "SELECT message, turn FROM message WHERE chat = ? AND external_id = ?", (chat, external_id)
            ).fetchall()
            assert [tuple(row) for row in rows] == [(message, turn)]

    @invariant()
    def an_end_is_final(self) -> None:
        for turn, state in self.ended.items():
            assert turns.get(self.house.db, TurnId(turn)).state == state


Lives.TestCase.settings = settings(
    max_examples=20, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLives = pytest.mark.timeout(60)(Lives.TestCase)  # five seconds on an idle machine


def test_every_promise_can_be_broken() -> None:
    """The queries above would find what they look for."""
    assert {TurnState(word.strip(" '")) for word in LIVE.strip("()").split(",")} == {
        TurnState.RUNNING,
        TurnState.ASKING,
        TurnState.HELD,
    }
    assert {TurnState(word.strip(" '")) for word in ENDED.strip("()").split(",")} == ENDED_TURNS
    db: Connection = empty_database()
    db.execute("BEGIN")
    house = furnish(db)
    turn = house.queued()
    db.execute("PRAGMA ignore_check_constraints = ON")
    for index in ("turn_live", "delivery_end", "dispatch_open"):
        db.execute(f"DROP INDEX {index}")
    channel = ChannelId(house.main.channel)
    for state in ("running", "asking", "done"):
        db.execute(
            "INSERT INTO turn (turn, channel, message, principal, address, state, queued_at, attempts) "
            "SELECT ?, ?, message, principal, address, ?, 0, 1 FROM turn WHERE turn = ?",
            (f"t-{state}", channel, state, turn),
        )
    broken = {promise for promise, query in BROKEN_PROMISES.items() if db.execute(query).fetchall()}
    assert broken >= {
        "a message has exactly one turn beside its retries",
        "a channel runs one turn at a time",
        "nothing overtakes in a lane",
        "an end is told exactly once, by an answer or a notice",
        "a turn asks exactly while a question of it is open",
    }
    db.close()
