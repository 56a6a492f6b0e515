"""The baseline: a bare Starlette application on a unix socket, in a process of its own.

With an agent it does the work of a turn and nothing else: a POST, three commits that reach the disk, the bytes of a
prompt to the agent over a raw pipe and back, one event. Run as ``python -m kai.bench.bare_server SOCKET [DB PROMPT]``.
"""

import asyncio
import itertools
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route

from kai.resources import folder


async def healthz(_: Request) -> PlainTextResponse:
    return PlainTextResponse("ok\n")


class Turns:
    """The routes of a turn, and what stands behind them."""

    def __init__(self, database: str, prompt: str) -> None:
        from kai.store.binding import connect  # noqa: PLC0415 - the server without turns must not hold it

        self._db = connect(database, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("CREATE TABLE said (seq INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")
        self._prompt = prompt
        self._ids = itertools.count(1)
        self._events: asyncio.Queue[str] = asyncio.Queue()
        self._agent: Process
        self._session = ""

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        agent = str(folder("backends") / "offline" / "agent.py")
        self._agent = await asyncio.create_subprocess_exec(sys.executable, "-I", "-S", agent, stdin=PIPE, stdout=PIPE)
        await self._call("initialize", {"protocolVersion": 1})
        found, _text = await self._call("session/new", {"cwd": "/", "mcpServers": []})
        self._session = found["sessionId"]
        yield
        self._agent.terminate()
        await self._agent.wait()

    async def receive(self, request: Request) -> JSONResponse:
        body = await request.json()
        number = await self._commit(body["text"])
        return JSONResponse({"message": number}, 202, background=BackgroundTask(self._turn))

    async def deliveries(self, _: Request) -> StreamingResponse:
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _turn(self) -> None:
        await self._commit(self._prompt)
        prompt = [{"type": "text", "text": self._prompt}]
        _, answer = await self._call("session/prompt", {"sessionId": self._session, "prompt": prompt})
        number = await self._commit(answer)
        self._events.put_nowait(json.dumps({"number": number, "kind": "answer", "text": answer}, separators=(",", ":")))

    async def _stream(self) -> AsyncIterator[str]:
        while True:
            yield f"event: delivery\ndata: {await self._events.get()}\n\n"

    async def _commit(self, text: str) -> int:
        """One row, on the disk when this returns. In a thread: an application that serves does not wait for a disk."""
        return await run_in_threadpool(self._insert, text)

    def _insert(self, text: str) -> int:
        return self._db.execute("INSERT INTO said (text) VALUES (?)", (text,)).lastrowid or 0

    async def _call(self, method: str, parameters: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The result of a call of the agent, and the text that came before it."""
        assert self._agent.stdin is not None
        assert self._agent.stdout is not None
        call = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": parameters}
        self._agent.stdin.write(json.dumps(call).encode() + b"\n")
        await self._agent.stdin.drain()
        text = ""
        while True:
            said = json.loads(await self._agent.stdout.readline())
            if "id" in said:
                return said["result"], text
            text += said["params"]["update"]["content"]["text"]


def application(arguments: list[str]) -> Starlette:
    """With a database and the file of a prompt, one that takes turns."""
    routes = [Route("/healthz", healthz)]
    if not arguments:
        return Starlette(routes=routes)
    turns = Turns(arguments[0], Path(arguments[1]).read_text())
    routes += [Route("/v1/messages", turns.receive, methods=["POST"]), Route("/v1/deliveries", turns.deliveries)]
    return Starlette(routes=routes, lifespan=turns.lifespan)


if __name__ == "__main__":
    uvicorn.run(
        application(sys.argv[2:]),
        uds=sys.argv[1],
        http="httptools",
        ws="none",
        log_level="warning",
        access_log=False,
        timeout_keep_alive=600,  # longer than kai takes for what is measured in between
    )
