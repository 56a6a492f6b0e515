"""Save, correct, forget: S05 to S10, S36."""

from kai.model.ids import TurnId
from kai.model.memory import Deed, NewRecord, Origin, Scope, Status, Way
from kai.store import eligible, ledger, records
from kai.store.errors import DiskFullError
from kai.turns import learning
from kai.turns.remembering import Remembering
from tests.e2e.house import Kai
from tests.scenarios.harness import Stage, block, recall, scenario, without
from tests.store.remembered import everything
from tests.store.test_records import SECRETS

FACT = "The greenhouse controller is an ESP32."


@scenario("S05", without(records, "is_buried", lambda *_: False))
async def said_again(stage: Stage) -> None:
    memory = await stage.household()
    record = memory.kept("Ann's birthday is in May")
    memory.forget(record)
    for way in (Way.JOB, Way.TOOL):
        refused = memory.save("Ann's birthday is in May", memory.scope(way=way))
        assert (refused.outcome, refused.reason) == (Deed.REJECTED, "tombstoned")
    again = memory.get(memory.kept("Ann's birthday is in May"))
    assert (again.record != record, again.revision, again.origin) == (True, 1, Origin.EXPLICIT_USER)
    assert memory.get(record).status is Status.FORGOTTEN


@scenario("S06", without(records, "bury", lambda *_: None))
async def crash_after_a_forget(stage: Stage) -> None:
    async with stage.kai() as kai:
        record = (await kai.client.memory("save", {"text": FACT}))["record"]
        accepted = await kai.say("the greenhouse? FAKE:slow=20,0.05 FAKE:die")
        await kai.until(accepted, "text")
        assert (await kai.client.memory("forget", {}, record))["outcome"] == "committed"
        assert (await kai.end(accepted))["state"] == "failed"
    async with stage.kai() as kai:
        assert FACT not in (await block(kai, "the greenhouse?", external_id="later")).partition("[Recent")[0]
        assert (await kai.client.memory("receipts", {}))[0]["operation"] == "forget"


@scenario("S07", without(learning, "footer", lambda *_: ""))
async def failed_save(stage: Stage) -> None:
    async with stage.kai() as kai:
        accepted = await kai.say("keep it FAKE:slow=40,0.05 FAKE:say=Saved!")
        await kai.until(accepted, "text")
        parts, write = kai.daemon.parts, kai.daemon.parts.store.write

        async def full(work: object, *args: object) -> object:
            if work is records.save:
                raise DiskFullError("kai.db")
            return await write(work, *args)  # type: ignore[arg-type]

        stage.patch.setattr(parts.store, "write", full)
        receipt = await Remembering(parts).operate(
            "save", records.save, await _scope(kai, accepted.turn), NewRecord(FACT)
        )
        assert receipt.outcome is Deed.REJECTED
        stage.patch.setattr(parts.store, "write", write)
        await kai.end(accepted)
        (answer,) = await kai.deliveries(1)
        assert "— Not saved: the database cannot be written to." in answer.text
        assert await kai.client.memory("records", {}) == []


async def _scope(kai: Kai, turn: TurnId | None) -> Scope:
    view = await kai.client.turn(turn or "")
    return Scope(view["principal"], view["channel"], way=Way.TOOL, turn=turn, message=view["message"])


def _as_indexed(*args: object, **_: object) -> object:
    """A reader that believes the index: the text by which a record was found."""
    db, here, seqs, _now = args
    found = {}
    for seq, record in eligible_now(db, here, seqs, _now).items():  # type: ignore[arg-type]
        old = db.execute(  # type: ignore[attr-defined]
            "SELECT content FROM mem_revision WHERE record = ? ORDER BY revision LIMIT 1", (record.record,)
        ).fetchone()[0]
        found[seq] = record._replace(text=old)
    return found


eligible_now = eligible.current


@scenario("S08", without(eligible, "current", _as_indexed))
async def corrected(stage: Stage) -> None:
    memory = await stage.household()
    record = memory.kept("short answers")
    seq = memory.get(record).seq
    memory.correct(record, "explain evidence")
    table = memory.db.execute("SELECT seq FROM mem_shelf").fetchone()[0]
    memory.db.execute(f"INSERT INTO mem_index_{table} (rowid, words) VALUES (?, 'short answer')", (seq,))  # stale
    texts = [hit.text for hit in (await recall(memory, "short answers")).hits]
    assert "short answers" not in texts
    assert texts in ([], ["explain evidence"])


@scenario("S08b", without(eligible, "_AUDIENCE", "1"))
async def newest_is_not_for_here(stage: Stage) -> None:
    memory = await stage.household()
    record = memory.kept("short answers")
    memory.correct(record, "short answers, for Bob's ears")
    assert (await recall(memory, "short answers")).hits
    memory.db.execute("UPDATE mem_record SET audience = '[\"p-bob\"]' WHERE record = ?", (record,))
    assert (await recall(memory, "short answers")).hits == ()


def _never_stale(db: object, scope: object, record: object, text: object, base: object, *rest: object) -> object:
    return correct(db, scope, record, text, None, *rest)  # type: ignore[arg-type]


correct = records.correct


@scenario("S09", without(records, "correct", _never_stale))
async def stale_base(stage: Stage) -> None:
    memory = await stage.household()
    record = memory.kept("one")
    memory.correct(record, "two")
    memory.correct(record, "three")
    refused = memory.correct(record, "four", base=2)
    assert (refused.outcome, refused.revision) == (Deed.CONFLICT, 3)
    assert memory.forget(record, base=2).outcome is Deed.CONFLICT
    assert (memory.get(record).text, memory.get(record).status) == ("three", Status.ACTIVE)


def _every_time(db: object, scope: Scope, operation: str, op: str, asked: object, now: object, work: object) -> object:
    return once(db, scope, operation, f"{op}{now}{id(asked)}", asked, now, work)  # type: ignore[arg-type]


once = ledger.once


@scenario("S10", without(records, "once", _every_time))
async def sent_twice(stage: Stage) -> None:
    async with stage.kai() as kai:
        first = await kai.client.memory("save", {"text": FACT, "op": "one"})
        again = await kai.client.memory("save", {"text": FACT, "op": "one"})
        assert again == first
    async with stage.kai() as kai:
        assert await kai.client.memory("save", {"text": FACT, "op": "one"}) == first
        assert (await kai.client.memory("save", {"text": "another", "op": "one"}))["reason"] == "op_id_reuse"
        (kept,) = await kai.client.memory("records", {})
        assert kept["revision"] == 1


@scenario("S36", without(records, "secret_in", lambda _: ""))
async def secrets_everywhere(stage: Stage) -> None:
    memory = await stage.household()
    harmless = memory.kept("something harmless")
    for text in SECRETS.values():
        for way in Way:
            for kind in ("fact", "note"):
                assert memory.save(text, memory.scope(way=way), kind=kind).reason.startswith("secret:")
        assert memory.correct(harmless, text).reason.startswith("secret:")
        taken = records.TakenIn("rec-imported", memory.house.now)
        imported = records.take_in(memory.db, memory.scope(), NewRecord(text), taken, memory.op, memory.house.now)
        assert imported.reason.startswith("secret:")
    held = everything(memory.db)
    assert [text for text in SECRETS.values() if text.split()[-1] in held] == []
