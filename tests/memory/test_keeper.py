"""Every record gets its vector, whatever happens in between."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from kai.memory.embedding.embedder import EmbedderUnavailableError, Identity
from kai.store import vectors
from kai.store.binding import Connection
from tests.memory.place import DIMENSION, Remembered, WordEmbedder, remembered


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[Remembered]:
    async with remembered(tmp_path) as place:
        yield place


def _held(db: Connection) -> int:
    rows: int = db.execute("SELECT count(*) FROM mem_vector").fetchone()[0]
    return rows


async def test_each_text_is_embedded_once_and_one_at_a_time(ann: Remembered) -> None:
    for number in range(70):  # more than one transaction of it
        await ann.save(f"thing number {number}")
    assert await ann.settle() == 70
    assert await ann.settle() == 0
    assert sorted(text for _, text in ann.embedder.asked) == sorted(f"thing number {n}" for n in range(70))


async def test_an_embedder_that_fails_leaves_the_rest_to_the_next_time(ann: Remembered) -> None:
    await ann.save("one thing")
    ann.embedder.broken = "hangs"
    with pytest.raises(EmbedderUnavailableError):
        await ann.settle()
    ann.embedder.broken = ""
    assert await ann.settle() == 1


async def test_what_is_forgotten_while_it_is_embedded_leaves_no_vector(ann: Remembered) -> None:
    record = await ann.save("one thing")
    waiting = await ann.store.read(vectors.unembedded, -1, 0, 10)
    await ann.forget(record)
    await ann.settle()
    kept = await ann.store.write(vectors.keep, 1, waiting[0].seq, waiting[0].revision, ann.embedder.vector("one"))
    assert (kept, await ann.store.read(_held)) == (False, 0)


async def test_forgetting_takes_the_vector_out_of_the_file(ann: Remembered) -> None:
    record = await ann.save("one thing")
    await ann.settle()
    assert await ann.store.read(_held) == 1
    await ann.forget(record)
    assert await ann.store.read(_held) == 0


async def test_it_waits_until_it_is_woken_and_then_does_what_is_there(ann: Remembered) -> None:
    await ann.settle()
    async with anyio.create_task_group() as group:
        group.start_soon(ann.keeper.run)
        await ann.save("one thing")
        ann.keeper.wake()
        with anyio.fail_after(5):
            while not await ann.store.read(_held):
                await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()


async def test_a_rebuild_with_an_embedder_that_is_out_is_refused(ann: Remembered) -> None:
    ann.embedder.broken = "missing"
    with pytest.raises(EmbedderUnavailableError):
        await ann.keeper.rebuild()


_VICTIM = """
import sys
from pathlib import Path

import anyio

from kai.memory.embedding.embedder import Identity
from tests.memory.place import DIMENSION, WordEmbedder, known, remembered


class Slow(WordEmbedder):
    async def embed(self, kind, text):
        made = await super().embed(kind, text)
        print("embedded", flush=True)
        await anyio.sleep(0.002)
        return made


async def main():
    async with remembered(Path(sys.argv[1]), again=True) as ann:
        ann.use(Slow(Identity("other", DIMENSION)))
        await ann.store.write(known, ann.embedder)
        await ann.keeper.rebuild()
        await ann.keeper.catch_up()


anyio.run(main)
"""


async def test_a_rebuild_that_is_killed_goes_on_afterwards_and_loses_nothing(tmp_path: Path) -> None:
    async with remembered(tmp_path) as ann:
        for number in range(100):
            await ann.save(f"thing number {number}")
        await ann.settle()
    for _ in range(2):
        await anyio.to_thread.run_sync(_killed_in_the_middle, tmp_path)
    async with remembered(tmp_path, again=True) as ann:
        other = WordEmbedder(Identity("other", DIMENSION))
        number = await ann.store.read(_number, other)
        assert [one.wanted for one in await ann.store.read(vectors.paused, number)] == [number]
        assert "thing number 7" in await ann.find("thing number 7")  # the old vectors still stand
        ann.use(other)
        done = await ann.settle()
        assert 0 < done < 100
        assert await ann.store.read(vectors.paused, number) == []
        assert await ann.store.read(_held) == 100
        assert (await ann.find("thing number 7"))[0] == "thing number 7"


def _number(db: Connection, embedder: WordEmbedder) -> int:
    number = vectors.number(db, str(embedder.identity))
    assert number is not None
    return number


def _killed_in_the_middle(folder: Path) -> None:
    victim = subprocess.Popen([sys.executable, "-c", _VICTIM, str(folder)], stdout=subprocess.PIPE, text=True)
    assert victim.stdout is not None
    for _ in range(41):  # beyond the first transaction, and in the middle of another
        assert victim.stdout.readline() == "embedded\n"
    victim.send_signal(signal.SIGKILL)
    victim.communicate()


async def test_a_kill_before_the_word_that_a_rebuild_is_done_leaves_it_to_the_next_start(ann: Remembered) -> None:
    await ann.save("one thing")
    await ann.settle()
    ann.use(WordEmbedder(Identity("other", DIMENSION)))
    await ann.settle()
    await ann.keeper.rebuild()
    (one,) = await ann.store.read(vectors.unembedded, 2, 0, 10)
    await ann.store.write(vectors.keep, 2, one.seq, one.revision, ann.embedder.vector("one thing"))
    ann.use(ann.embedder)
    assert await ann.settle() == 0
    assert await ann.store.read(vectors.paused, 2) == []
