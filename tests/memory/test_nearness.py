"""The vector stage in a search, its outages, and the indexes that follow the store."""

from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import anyio
import pytest

from kai.memory.embedding.embedder import EmbedderUnavailableError, Embedding, Identity
from kai.memory.nearness import Nearness, confirming
from kai.model.context import Retrieval, RetrievalStatus
from kai.model.memory import NewRecord, Policy, Way
from kai.store import records, vectors
from kai.store.binding import Connection
from tests.memory.place import DIMENSION, NOW, Remembered, WordEmbedder, remembered

if find_spec("numpy") is None:
    pytest.skip("kai[memory] is not installed", allow_module_level=True)

import numpy as np  # noqa: F401 - its first import is no part of what is tested


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[Remembered]:
    async with remembered(tmp_path) as place:
        yield place


async def test_what_means_the_same_is_found_without_a_common_word(ann: Remembered) -> None:
    await ann.save("automobile parked behind church")
    await ann.save("cake needs three eggs")
    assert await ann.find("auto") == []
    assert await ann.settle() == 2
    assert (await ann.find("auto"))[0] == "automobile parked behind church"


async def test_the_question_goes_to_the_embedder_word_for_word(ann: Remembered) -> None:
    await ann.save("automobile parked behind church")
    await ann.settle()
    ann.embedder.asked.clear()
    await ann.retriever.retrieve(ann.scope, "Wo ist  das Auto?\n", Policy())
    assert ann.embedder.asked == [("query", "Wo ist  das Auto?\n")]


async def test_without_words_or_with_nothing_to_read_the_embedder_is_not_asked(ann: Remembered) -> None:
    await ann.retriever.retrieve(ann.scope, "nothing is there yet", Policy())
    await ann.save("automobile parked behind church")
    await ann.settle()
    ann.embedder.asked.clear()
    await ann.retriever.retrieve(ann.scope, "  ", Policy())
    await ann.retriever.retrieve(ann.scope, "auto", Policy(inject=()))
    assert ann.embedder.asked == []


async def test_an_outage_leaves_the_words_and_says_so(ann: Remembered) -> None:
    await ann.save("automobile parked behind church")
    await ann.settle()
    ann.embedder.broken = "hangs"
    assert await ann.find("auto") == []
    found, _ = await ann.retriever.search(ann.scope, "church", ann.policy)
    assert [one.record.text for one in found.scored] == ["automobile parked behind church"]
    assert found.reason == "lexical: embedder_hangs"


async def test_where_words_alone_are_not_wanted_an_outage_is_unavailable_and_never_a_list(ann: Remembered) -> None:
    await ann.save("automobile parked behind church")
    await ann.settle()
    ann.embedder.broken = "hangs"
    ann.retriever.must_be_near = True
    retrieval = await ann.retriever.retrieve(ann.scope, "church", Policy())
    assert (retrieval.status, retrieval.hits, retrieval.reason) == (
        RetrievalStatus.UNAVAILABLE,
        (),
        "embedder_hangs",
    )
    found, _ = await ann.retriever.search(ann.scope, "church", ann.policy)
    assert (found.status, found.scored) == (RetrievalStatus.UNAVAILABLE, ())


async def test_what_is_forgotten_corrected_or_new_is_so_in_the_index_at_once(ann: Remembered) -> None:
    church = await ann.save("automobile parked behind church")
    await ann.save("cake needs three eggs")
    await ann.settle()
    assert "automobile parked behind church" in await ann.find("auto")
    await ann.forget(church)
    assert "automobile parked behind church" not in await ann.find("auto")
    bridge = await ann.save("wheels stand below bridge")
    await ann.settle()
    assert (await ann.find("auto"))[0] == "wheels stand below bridge"
    await ann.correct(bridge, "boat lies below bridge")
    await ann.settle()
    assert "wheels stand below bridge" not in await ann.find("auto")


async def test_a_vector_put_in_by_hand_for_an_old_revision_is_nobodys(ann: Remembered) -> None:
    record = await ann.save("automobile parked behind church")
    await ann.correct(record, "nothing of that kind")
    await ann.settle()

    def forge(db: Connection) -> None:
        seq = db.execute("SELECT seq FROM mem_record WHERE record = ?", (record,)).fetchone()[0]
        db.execute("DELETE FROM mem_vector")
        vector = vectors.halved(ann.embedder.vector("automobile"))
        db.execute("INSERT INTO mem_vector VALUES (1, ?, 1, ?)", (seq, vector))

    await ann.store.write(forge)
    assert await ann.find("automobile") == []


async def test_a_changed_identity_pauses_the_search_by_vectors_until_a_rebuild(ann: Remembered) -> None:
    await ann.save("automobile parked behind church")
    await ann.settle()
    other = WordEmbedder(Identity("other", DIMENSION))
    ann.use(other)
    assert await ann.settle() == 0
    assert await ann.find("auto") == []
    found, _ = await ann.retriever.search(ann.scope, "church", ann.policy)
    assert (len(found.scored), found.reason) == (1, "lexical: embedder_paused")
    number = await ann.store.read(vectors.number, str(other.identity))
    assert number is not None
    assert [one.shelf for one in await ann.store.read(vectors.paused, number)] == ["person/p-ann"]
    assert await ann.keeper.rebuild() == 1
    assert await ann.settle() == 1
    assert await ann.find("auto") == ["automobile parked behind church"]
    assert await ann.store.read(vectors.paused, number) == []


@pytest.mark.parametrize("choice", ["auto", "flat", "sqlite-vec", "bits"])
async def test_a_thousand_changes_since_the_last_search_are_followed_by_every_engine(
    ann: Remembered, choice: str
) -> None:
    stage = Nearness(ann.store, ann.embedder, choice)  # type: ignore[arg-type]
    ann.retriever.vectors = stage
    first = await ann.save("automobile number 0")
    await ann.settle()
    await ann.find("auto")

    def many(db: Connection) -> None:
        seq = db.execute("SELECT seq FROM mem_record WHERE record = ?", (first,)).fetchone()[0]
        db.executemany("INSERT INTO mem_moved (shelf, seq) VALUES (1, ?)", [(seq,)] * 5_000)

    await ann.store.write(many)
    await ann.save("automobile number 1")
    await ann.settle()
    assert sorted(await ann.find("auto")) == ["automobile number 0", "automobile number 1"]


async def test_the_first_probe_of_an_identity_is_the_measure_of_every_later_one(ann: Remembered) -> None:
    confirm = confirming(ann.store)
    sound, identity = await WordEmbedder().embed("passage", "probe"), Identity("m", DIMENSION)
    assert await confirm(identity, sound)
    assert await confirm(identity, sound)
    assert not await confirm(identity, await WordEmbedder(Identity("other", DIMENSION)).embed("passage", "probe"))


async def at_once(ann: Remembered, query: str) -> Retrieval | None:
    """What the transaction that takes a message in finds."""
    return await ann.store.read(ann.retriever.at_once, ann.scope, query, ann.policy, None)


async def test_a_question_that_was_foreseen_is_searched_within_the_transaction_and_finds_the_same(
    ann: Remembered,
) -> None:
    await ann.save("automobile parked behind church")
    await ann.settle()
    assert await at_once(ann, "auto") is None  # it has no vector yet
    await ann.retriever.foresee(ann.scope, "auto")
    assert await at_once(ann, "auto") is None  # no index is made in there
    long_way = await ann.retriever.retrieve(ann.scope, "auto", ann.policy)
    asked = len(ann.embedder.asked)
    await ann.retriever.foresee(ann.scope, "auto")
    assert await at_once(ann, "auto") == long_way
    assert [hit.text for hit in long_way.hits] == ["automobile parked behind church"]
    assert len(ann.embedder.asked) == asked  # its vector was known


async def test_within_a_transaction_no_index_follows_what_may_yet_be_undone(ann: Remembered) -> None:
    church = await ann.save("automobile parked behind church")
    await ann.save("cake needs three eggs")
    await ann.settle()
    await ann.find("auto")

    def forget_and_look(db: Connection) -> None:
        records.forget(db, ann.scope, church, None, "o-undone", NOW)
        assert ann.retriever.at_once(db, ann.scope, "auto", ann.policy, None) is None
        raise EmbedderUnavailableError("busy")  # whatever undoes it

    with pytest.raises(EmbedderUnavailableError):
        await ann.store.write(forget_and_look)
    assert "automobile parked behind church" in await ann.find("auto")
    assert await at_once(ann, "auto") is not None


async def test_what_is_foreseen_waits_for_no_slow_embedder(ann: Remembered, monkeypatch: pytest.MonkeyPatch) -> None:
    await ann.save("automobile parked behind church")
    await ann.settle()
    assert await at_once(ann, "auto") is None

    async def hangs(kind: str, text: str) -> Embedding:
        await anyio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(ann.embedder, "embed", hangs)
    with anyio.fail_after(10):
        await ann.retriever.foresee(ann.scope, "auto")
    assert await at_once(ann, "auto") is None


async def test_no_more_than_so_many_vectors_of_questions_are_kept(
    ann: Remembered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kai.memory.nearness._QUESTIONS", 2)
    await ann.save("automobile parked behind church")
    await ann.settle()
    ann.embedder.asked.clear()
    for query in ("one", "two", "one", "three", "one", "two"):
        await ann.find(query)
    assert [text for _, text in ann.embedder.asked] == ["one", "two", "three", "two"]


async def test_indexes_beyond_the_bound_of_memory_are_let_go_the_longest_unused_first(
    ann: Remembered, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ann.save("automobile parked behind church")
    await ann.store.write(
        records.save, replace(ann.scope, way=Way.ADMIN), NewRecord("auto club", namespace="global/house"), "o-all", NOW
    )
    await ann.settle()
    stage = Nearness(ann.store, ann.embedder)
    ann.retriever.vectors = stage
    monkeypatch.setattr("kai.memory.nearness._INDEX_BYTES", 1)
    assert sorted(await ann.find("auto")) == ["auto club", "automobile parked behind church"]
    assert len(stage._indexes) == 1
    assert sorted(await ann.find("auto")) == ["auto club", "automobile parked behind church"]
