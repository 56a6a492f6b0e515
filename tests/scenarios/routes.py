"""Every route on which memory could reach an agent: S04, S11, S16."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anyio import to_thread

from kai.context.assemble import assemble
from kai.context.sections import memory as memory_section
from kai.memory.retrieval import StoreRetriever
from kai.model.context import MemoryMode, Retrieval, RetrievalStatus
from kai.model.errors import StoreError
from kai.model.ids import ChannelId, RunId
from kai.model.memory import Policy, Way
from kai.store import archive, channels, delegations, eligible, messages, records, search, shelves
from kai.store.delegations import Bounds, Wanted
from kai.tools.scope import may_be_shown, scope_of
from kai.turns.runs import LiveRun
from tests.context.examples import HITS, enabled, facts
from tests.e2e.house import Kai
from tests.scenarios.harness import Stage, _At, _One, block, recall, scenario, without
from tests.store.house import ANN, BOB
from tests.store.remembered import Memory

PLAIN = "memory: {embedder: {provider: none}}\n"
SECRET = "the red box holds the spare key"


class _Near:
    """A vector stage to which one record is as near as can be, whatever is asked."""

    floor = 0.0

    def __init__(self, seq: int) -> None:
        self._seq = seq

    async def asked(self, shelves: Sequence[str], query: str) -> Any:
        return self

    def near(self, db: Any, spaces: Sequence[Any], limit: int) -> dict[int, float]:
        return {self._seq: 1.0}

    def alike(self, db: Any, seqs: Sequence[int]) -> None:
        return None


async def _texts(memory: Memory, retriever: StoreRetriever, seq: int) -> str:
    """All that comes back of it, by words, by nearness, from what a retriever keeps, as pinned, in a digest."""
    own = memory.scope(way=Way.AUTO)
    found = [await recall(memory, query, vectors=_Near(seq)) for query in (SECRET, "something else")]
    found += [await retriever.retrieve(own, query, Policy()) for query in (SECRET, "what is new?")]
    searched, _ = await retriever.search(own, SECRET, Policy(min_score=0.0))
    texts = [hit.text for one in found for hit in one.hits] + [one.record.text for one in searched.scored]
    return "\n".join([*texts, *memory.found(SECRET), *memory.found("digest of boxes")])


@scenario("S04", without(records, "bury", lambda *_: None))
async def never_again(stage: Stage) -> None:
    memory = await stage.household()
    record = memory.kept(SECRET, kind="preference")
    memory.kept("a digest of boxes: red, spare key", sources=((record, 1),))
    seq = memory.get(record).seq
    retriever = StoreRetriever(_One(memory.db), _At(memory))  # type: ignore[arg-type]
    assert "spare key" in await _texts(memory, retriever, seq)
    export = archive.written(memory.db, memory.scope(), memory.house.now)
    memory.forget(record)
    assert "spare key" not in await _texts(memory, retriever, seq)
    table = memory.db.execute("SELECT seq FROM mem_shelf").fetchone()[0]  # a job that was queued before writes late
    memory.db.execute(f"INSERT INTO mem_index_{table} (rowid, words) VALUES (?, 'red box hold spare key')", (seq,))
    assert "spare key" not in await _texts(memory, retriever, seq)
    for receipt in archive.read_back(memory.db, memory.scope(), export, memory.op, memory.house.now):
        assert receipt.outcome != "committed"
    assert "spare key" not in await _texts(memory, retriever, seq)
    shelves.rebuild(memory.db)
    assert "spare key" not in await _texts(memory, retriever, seq)
    async with stage.kai(yaml=PLAIN) as kai:
        kept = await kai.client.memory("save", {"text": SECRET})
        asked = "FAKE:run=kai_tool_delegate_--agent_research_where-is-the-spare-key-of-the-red-box"
        assert "spare key" in await _child(kai, asked)
        await kai.client.memory("forget", {}, kept["record"])
        assert "holds the spare" not in await _child(kai, asked)


async def _child(kai: Kai, words: str) -> str:
    """What was dispatched to the child of this turn before the conversation that goes along."""
    assert (await kai.ask(words))["state"] == "done"
    child = next(one for one in await kai.client.turns() if one["delegated"])
    text: str = (await kai.client.context(child["turn"]))["text"]
    return text.partition("[Recent")[0]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.startswith("[Memory"))


@scenario(
    "S11", without(memory_section, "_state_line", lambda _: "[Memory search: empty. Nothing that is remembered.]")
)
async def told_apart(stage: Stage) -> None:
    causes = {
        "empty": enabled(retrieval=Retrieval(RetrievalStatus.EMPTY)),
        "denied": enabled(retrieval=Retrieval(RetrievalStatus.DENIED, reason="not_granted")),
        "unavailable": enabled(memory=MemoryMode.FAULT, retrieval=Retrieval(RetrievalStatus.UNAVAILABLE)),
        "disabled": facts(memory=MemoryMode.DISABLED),
        "temporary": facts(memory=MemoryMode.TEMPORARY, retrieval=Retrieval(RetrievalStatus.TEMPORARY)),
        "omitted_budget": enabled(retrieval=Retrieval(RetrievalStatus.OK, HITS, 2, max_tokens=1)),
    }
    said = {name: _lines(assemble(made).text) for name, made in causes.items()}
    assert len(set(said.values())) == len(causes)
    assert [name for name, lines in said.items() if "Nothing that is remembered" in "".join(lines)] == ["empty"]
    await to_thread.run_sync(_write_tiny, stage.folder / "config" / "agents")
    async with stage.kai(yaml=f"{PLAIN}agent: tiny\n") as kai:
        found: Any = await kai.client.memory("search", {"query": "zebras"})
        assert found["status"] == "empty"
        await kai.client.memory("save", {"text": "zebras live in the zoo"})
        found = await kai.client.memory("search", {"query": "zebras", "namespaces": ["person/p-other/memory"]})
        assert (found["status"], found["dropped"]) == ("denied", ["person/p-other/memory"])
        assert _lines(await block(kai, "zebras?"))[:1] == said["omitted_budget"][:1] or "omitted_budget" in str(
            _lines(await block(kai, "and zebras?"))
        )
        stage.patch.setattr(StoreRetriever, "_for_block", _broken)
        await kai.say("/new")
        assert _lines(await block(kai, "where are zebras?")) == said["unavailable"]
        statuses = {row["status"] for row in await kai.client.memory("audit", {})}
        assert statuses >= {"empty", "denied", "omitted_budget", "unavailable"}
        assert "nothing is recalled or kept" in await _refusal(kai)


def _broken(*_: Any) -> Any:
    raise StoreError("kai.db", "it cannot be read")


async def _refusal(kai: Kai) -> str:
    await kai.say("/temporary")
    reply = (await kai.say("/memory zebras")).reply
    await kai.say("/temporary off")
    return reply


def _write_tiny(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny.yaml").write_text("purpose: small\nmemory: {max_tokens: 1, top_k: 1}\n")


ABOUT = "Ann is afraid of thunder"


@scenario("S16", without(eligible, "_AUDIENCE", "1"))
async def about_somebody(stage: Stage) -> None:
    memory = await stage.household()
    private, room = memory.scope(BOB), memory.room(ANN, BOB)
    admin = memory.scope(BOB, way=Way.ADMIN)
    own = memory.kept(ABOUT, admin, namespace="global/people")
    memory.kept("a digest: thunder and Ann", admin, namespace="global/people", sources=((own, 1),))
    memory.db.execute("UPDATE mem_record SET audience = '[\"p-bob\"]'")  # said where Bob was alone
    said = messages.draft(private.channel, "person", BOB, "Bob", ABOUT, memory.house.now)  # type: ignore[arg-type]
    messages.keep(memory.db, said)
    assert memory.found("Ann thunder", private)
    for who in (ANN, BOB):
        there = memory.scope(who, room)
        assert (await recall(memory, "is Ann afraid of thunder?", memory.scope(who, room, way=Way.AUTO))).hits == ()
        assert memory.found("Ann thunder digest", there) == []
        assert search.search(memory.db, room, "thunder", 10) == ()
    child = _work_in(memory, room)
    assert child.channel.channel == room  # where its tools look
    assert may_be_shown(memory.db, child, (said,)) == ()
    assert memory.found("Ann thunder", child.memory) == []
    assert memory.found("Ann thunder", private)


def _work_in(memory: Memory, room: ChannelId) -> Any:
    """The scope of a run that does delegated work for Ann's turn in this channel."""
    house = memory.house
    door = channels.bind(memory.db, "tg", "kitchen", "", room)
    inbound = house.inbound("ask it", chat="kitchen")
    turn = messages.accept(memory.db, inbound, door, ANN, "Ann", house.now, queue_bound=9).turn
    assert turn is not None
    house.begin(turn, house.session(channel=room))
    made = delegations.begin(memory.db, turn, Wanted("research", "r", "house", "ask it"), Bounds(), house.now)
    session = house.session(channel=made.channel)
    house.begin(made.turn, session)
    return scope_of(memory.db, LiveRun(RunId("r-9"), session, made.channel, ANN, 0, b""))
