"""Who may see what: S17 to S19, S21."""

from kai.context.epoch import Grounds, epoch
from kai.model.context import MemoryMode
from kai.model.errors import DeniedError
from kai.model.ids import ChannelId, PrincipalId
from kai.model.memory import Deed, Scope
from kai.model.people import ChannelKind
from kai.store import channels, eligible, grants, records
from tests.scenarios.harness import CAT, Stage, recall, scenario, without
from tests.store.house import ANN, BOB
from tests.store.remembered import Memory


def epoch_in(memory: Memory, room: ChannelId) -> str:
    where = channels.get(memory.db, room)
    return epoch(Grounds("b", "1", (), "/w", "u", room, where.kind, where.members, "a", MemoryMode.SHARED))


@scenario("S17", without(eligible, "_AUDIENCE", "r.audience IS NOT NULL"))
async def joining_and_leaving(stage: Stage) -> None:
    memory = await stage.household()
    room = memory.room(ANN, BOB)
    here = memory.scope(channel=room)
    memory.kept("the bins go out on Monday", here)
    before = epoch_in(memory, room)
    assert memory.found("bins", here)
    channels.join(memory.db, room, CAT, memory.house.now)
    assert epoch_in(memory, room) != before  # no session goes on over a change of epoch
    assert memory.found("bins", here) == []
    assert memory.found("bins", memory.scope(CAT, room)) == []
    channels.leave(memory.db, room, CAT, memory.house.now)
    assert memory.found("bins", here) == ["the bins go out on Monday"]


@scenario("S18", without(records, "_in_common", lambda *_: '["*"]'))
async def derived(stage: Stage) -> None:
    memory = await stage.household()
    room = memory.scope(channel=memory.room(ANN, BOB))
    both, own = memory.kept("said to both", room), memory.kept("said to Ann")
    assert memory.get(memory.kept("a digest", sources=((both, 1), (own, 1)))).audience == '["p-ann"]'
    memory.db.execute("UPDATE mem_record SET audience = '[\"p-bob\"]' WHERE record = ?", (both,))
    assert memory.get(memory.kept("of strangers", sources=((both, 1), (own, 1)))).audience is None
    memory.db.execute("UPDATE mem_record SET audience = NULL WHERE record = ?", (both,))
    assert memory.get(memory.kept("of the untagged", sources=((both, 1), (own, 1)))).audience is None
    assert memory.found("strangers untagged") == []


@scenario("S19", without(eligible, "_GRANTED", "1"), without(records, "retire_exposed", lambda *_: None))
async def granted(stage: Stage) -> None:
    memory = await stage.household()
    record, room = memory.kept("the key is under the mat"), memory.room(ANN, BOB)
    there = memory.scope(BOB, room)
    for scope in (memory.scope(BOB), memory.scope(channel=room)):
        refused = grants.grant(memory.db, scope, record, room, None, memory.op, memory.house.now)
        assert refused.outcome is Deed.REJECTED
    made = grants.grant(memory.db, memory.scope(), record, room, None, memory.op, memory.house.now)
    assert memory.found("mat", there) == ["the key is under the mat"]
    turn = memory.house.queued("where is the key?")
    session = memory.house.session()
    dispatch = memory.house.sent(turn, session)
    memory.db.execute("INSERT INTO mem_exposure VALUES (?, ?, 1, ?, 1)", (session, record, dispatch))
    grants.revoke(memory.db, memory.scope(), made.reason, memory.op, memory.house.now)
    seq = memory.get(record).seq
    here = eligible.place(memory.db, there, ("channel/this/*",))
    assert eligible.current(memory.db, here, [seq], memory.house.now) == {}
    state = memory.db.execute("SELECT state FROM session WHERE session = ?", (session,)).fetchone()[0]
    assert state == "retired"


@scenario("S21", without(Scope, "__post_init__", lambda _: None))
async def nobody(stage: Stage) -> None:
    memory = await stage.household()
    memory.kept("the key is under the mat")
    statements: list[str] = []
    memory.db.set_trace_callback(statements.append)
    for principal, channel in (("", memory.house.main.channel), ("p-ann", "")):
        denied = ""
        try:
            await recall(memory, "mat", Scope(PrincipalId(principal), ChannelId(channel)))
        except DeniedError as error:
            denied = error.sentence
        assert "no_identity" in denied
    assert [one for one in statements if "mem_" in one] == []
    assert ChannelKind.PRIVATE is memory.house.main.kind
