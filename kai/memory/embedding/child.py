"""The daemon's side of an embedder: a child process started at first use, ended when idle, bounded in every way.

Whatever goes wrong (it hangs, ends, answers with another dimension, with no number, as another model) ends the child
and makes the embedder unavailable for a while. Nothing is invented in place of an answer.
"""

import json
import math
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from kai.log import log
from kai.memory.embedding import frames
from kai.memory.embedding.embedder import PROBE, EmbedderUnavailableError, Embedding, Identity, Kind, checked, shortened
from kai.processes.pipes import ReadEnd, WriteEnd

Confirm = Callable[[Identity, Embedding], Awaitable[bool]]
_PASSED_ON = ("PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


@dataclass(frozen=True, slots=True)
class EmbedderLimits:
    """Seconds and bytes.

    `query_s`: how long a question waits, whatever it waits for; `text_s`: from when on one text is a hang; `start_s`:
    loading; `rest_s`: from a failure to the next try.
    """

    query_s: float = 1.5
    start_s: float = 30.0
    text_s: float = 10.0
    idle_s: float = 900.0
    rest_s: float = 30.0
    waiting: int = 16  # texts in the queue; one more is refused
    memory_bytes: int = 1024**3


@dataclass(eq=False, slots=True)
class _Job:
    kind: Kind
    text: str
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Embedding | None = None
    error: EmbedderUnavailableError | None = None
    is_abandoned: bool = False


@dataclass(slots=True)
class _Child:
    process: "subprocess.Popen[bytes]"
    source: ReadEnd
    sink: WriteEnd
    rest: bytes = b""

    async def ask(self, body: bytes) -> None:
        if not await self.sink.write(body):
            raise EmbedderUnavailableError("ended")

    async def receive(self) -> bytes:
        (size,) = frames.HEAD.unpack(await self._exactly(frames.HEAD.size))
        if size > frames.MOST_BYTES:
            raise EmbedderUnavailableError("answer", "it is too long")
        return await self._exactly(size)

    async def _exactly(self, count: int) -> bytes:
        while len(self.rest) < count:
            piece = await self.source.read()
            if not piece:
                raise EmbedderUnavailableError("ended")
            self.rest += piece
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    async def end(self) -> None:
        """Kill it and wait until it is gone."""
        with anyio.CancelScope(shield=True):
            self.source.close()
            self.sink.close()
            self.process.kill()
            await to_thread.run_sync(self.process.wait)


class ChildEmbedder:
    """An `Embedder` over a child process. Made by `open_embedder`. One text is embedded at a time, in order."""

    def __init__(
        self,
        asked: Mapping[str, Any],
        expected: Identity,
        confirm: Confirm,
        limits: EmbedderLimits,
        program: tuple[str, ...],
    ) -> None:
        self._asked = {**asked, "memory_bytes": limits.memory_bytes}
        self._identity, self._confirm, self._limits, self._program = expected, confirm, limits, program
        self._jobs: MemoryObjectSendStream[_Job]
        self._jobs, self._waiting = anyio.create_memory_object_stream[_Job](limits.waiting)
        self._child: _Child | None = None
        self._failure: EmbedderUnavailableError | None = None
        self._rests_until = 0.0

    @property
    def identity(self) -> Identity:
        """Whose vectors it makes: what the settings say until it has answered for the first time."""
        return self._identity

    @property
    def failure(self) -> EmbedderUnavailableError | None:
        """Why it is unavailable just now; None when it is not, or when it may be tried again."""
        return self._failure if anyio.current_time() < self._rests_until else None

    async def embed(self, kind: Kind, text: str) -> Embedding:
        """The vector of `text`. Raises `EmbedderUnavailableError`; a caller that gives up costs the others nothing."""
        if self.failure is not None:
            raise self.failure
        job = _Job(kind, shortened(kind, text))
        try:
            self._jobs.send_nowait(job)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise EmbedderUnavailableError("busy") from error
        try:
            with _limit("late", self._limits.query_s if kind == "query" else math.inf):
                await job.done.wait()
        finally:
            job.is_abandoned = True
        if job.result is None:
            raise job.error or EmbedderUnavailableError("ended")
        return job.result

    async def run(self) -> None:
        """Answer until cancelled. Ends the child whenever it leaves."""
        try:
            while True:
                job = await self._next(self._waiting)
                if job is None:
                    await self._end_child()
                elif not job.is_abandoned:
                    await self._settle(job)
        finally:
            await self._end_child()
            self._jobs.close()
            while self._waiting.statistics().current_buffer_used:
                self._waiting.receive_nowait().done.set()
            self._waiting.close()

    async def _next(self, waiting: MemoryObjectReceiveStream[_Job]) -> _Job | None:
        """The next job; None when nobody asked for so long that the model's memory is better given back."""
        if self._child is None:
            return await waiting.receive()
        with anyio.move_on_after(self._limits.idle_s):
            return await waiting.receive()
        return None

    async def _settle(self, job: _Job) -> None:
        try:
            if self.failure is not None:
                raise self.failure
            child = self._child or await self._start()
            job.result = await self._embed(child, job.kind, job.text, self._limits.text_s)
        except EmbedderUnavailableError as error:
            await self._end_child()
            job.error = error
            if self.failure is None:
                self._failure, self._rests_until = error, anyio.current_time() + self._limits.rest_s
                log.warning(
                    "embedder.unavailable", model=self._identity.model, reason=error.reason, detail=error.detail
                )
        finally:
            job.done.set()

    async def _start(self) -> _Child:
        began = anyio.current_time()
        self._child = child = await self._launch()
        with _limit("start", self._limits.start_s):
            said = await child.receive()
            if said[:1] == b"-":
                reason = frames.read_answer(said)
                raise EmbedderUnavailableError(
                    "missing" if "FileNotFoundError" in str(reason) else "start", str(reason)
                )
            try:
                identity = frames.read_hello(said)
            except ValueError as error:
                raise EmbedderUnavailableError("start", "its first word cannot be read") from error
            self._take(identity)
            probe = await self._embed(child, "passage", PROBE, self._limits.start_s)
            if not await self._confirm(self._identity, probe):
                raise EmbedderUnavailableError("identity", "another model answers under the same name")
        log.info("embedder.started", model=str(self._identity), seconds=round(anyio.current_time() - began, 3))
        return child

    def _take(self, identity: Identity) -> None:
        """What the settings do not know (a folder's dimension and digest) is learnt once; then it must stay."""
        ours = self._identity
        if ours.model != identity.model or ours.dimension not in (0, identity.dimension):
            raise EmbedderUnavailableError("identity", f"{identity} answers instead of {ours}")
        if ours.digest and identity != ours:
            raise EmbedderUnavailableError("identity", f"{identity} answers instead of {ours}")
        self._identity = identity

    async def _embed(self, child: _Child, kind: Kind, text: str, limit_s: float) -> Embedding:
        with _limit("hangs", limit_s):
            await child.ask(frames.question(kind, text))
            body = await child.receive()
        try:
            said = frames.read_answer(body)
        except ValueError as error:
            raise EmbedderUnavailableError("answer", str(error)) from error
        if isinstance(said, str):
            raise EmbedderUnavailableError("answer", said)
        return checked(said, self._identity)

    async def _launch(self) -> _Child:
        command = [*self._program, json.dumps(self._asked)]
        env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        env |= {
            "OMP_NUM_THREADS": "2",
            "OMP_WAIT_POLICY": "passive",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONUNBUFFERED": "1",
        }

        def start() -> "subprocess.Popen[bytes]":
            pipe = subprocess.PIPE
            return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=env, bufsize=0)

        try:
            with anyio.CancelScope(shield=True):
                process = await to_thread.run_sync(start)
        except OSError as error:
            raise EmbedderUnavailableError("start", error.strerror or str(error)) from error
        assert process.stdin is not None and process.stdout is not None  # noqa: PT018
        child = _Child(process, ReadEnd(os.dup(process.stdout.fileno())), WriteEnd(os.dup(process.stdin.fileno())))
        process.stdin.close()
        process.stdout.close()
        return child

    async def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()


@contextmanager
def _limit(reason: str, seconds: float) -> Iterator[None]:
    """Fails as `EmbedderUnavailableError(reason)` after `seconds`."""
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError as error:
        raise EmbedderUnavailableError(reason, f"no answer within {seconds:g} seconds") from error


async def _anybody(_identity: Identity, _probe: Embedding) -> bool:
    return True


WORKER = (sys.executable, "-I", "-m", "kai.memory.embedding.worker")


@asynccontextmanager
async def open_embedder(
    asked: Mapping[str, Any],
    expected: Identity,
    *,
    confirm: Confirm = _anybody,
    limits: EmbedderLimits | None = None,
    program: tuple[str, ...] = WORKER,
) -> AsyncIterator[ChildEmbedder]:
    """An embedder that costs nothing until its first text.

    `asked` is what the child is told (``provider`` and what belongs to it), `expected` what it must prove to be: a
    field that is empty or 0 is learnt. `confirm` says whether the vector of a known text is still that of this
    identity.
    """
    embedder = ChildEmbedder(asked, expected, confirm, limits or EmbedderLimits(), program)
    async with anyio.create_task_group() as group:
        group.start_soon(embedder.run)
        try:
            yield embedder
        finally:
            group.cancel_scope.cancel()
