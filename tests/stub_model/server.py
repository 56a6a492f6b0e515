"""The HTTP side of the stub: one thread a connection, on loopback."""

import gzip
import json
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.stub_model import apis
from tests.stub_model.apis import Api
from tests.stub_model.conversation import Conversation, tokens
from tests.stub_model.log import Request, RequestLog
from tests.stub_model.plans import Answer, Ending, Fault, Plan, Silence
from tests.stub_model.words import Words


class StubModel:
    """The server as a context manager; `port` 0 takes a free one. Its connections end with it."""

    def __init__(self, *, port: int = 0, log: Path | None = None) -> None:
        self._log = RequestLog(log)
        self._words = Words()
        self._deciding = threading.Lock()
        self._port = port
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._log.open()
        self._server = _Server(("127.0.0.1", self._port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="stub model")
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        assert self._server is not None
        assert self._thread is not None
        self._server.shutdown()
        self._server.end_connections()
        self._server.server_close()
        self._thread.join()
        self._log.close()

    @property
    def url(self) -> str:
        assert self._server is not None, "the stub model is not running"
        return f"http://127.0.0.1:{self._server.server_port}"

    def requests(self) -> tuple[Request, ...]:
        """All so far, oldest first. A request is there before the first byte of its answer."""
        return self._log.all()

    def turns(self) -> tuple[Request, ...]:
        """Only the requests that belong to turns proper, without the side requests that agents make."""
        return tuple(request for request in self.requests() if request.offers_tools)

    def wait(self, wanted: Callable[[Request], bool], limit_s: float = 10.0) -> Request:
        """The first request that is `wanted`, past or coming. Raises `TimeoutError`."""
        return self._log.wait(wanted, limit_s)

    def force(self, word: str) -> None:
        """Apply the magic `word` (``err=500*2``, ``hang``) to every request; "" ends that."""
        with self._deciding:
            self._words.force(word)

    def decide(self, conversation: Conversation) -> Plan:
        with self._deciding:
            return self._words.plan(conversation)

    def record(self, method: str, path: str, headers: dict[str, str], body: Any, plan: str) -> Request:
        return self._log.add(method, path, headers, body, plan)


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # joined by server_close
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], model: StubModel) -> None:
        self.model = model
        self.closing = threading.Event()
        self._connections: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Agents hang up in mid-answer all the time; anything else is told."""
        if not self.closing.is_set():
            super().handle_error(request, client_address)

    def end_connections(self) -> None:
        self.closing.set()
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it ended by itself


@dataclass(frozen=True, slots=True)
class _Call:
    """A request of a model API on its way to an answer."""

    api: Api
    conversation: Conversation
    plan: Plan
    number: int
    request_tokens: int


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: Any) -> None:
        """The request log is ours."""

    def handle(self) -> None:
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_HEAD(self) -> None:
        self._record(None, "")
        self._send(200, b"")

    def do_GET(self) -> None:
        self._record(None, "")
        self._answer(apis.models(self._bare_path))

    def do_POST(self) -> None:
        raw = self._read_body()
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self._record(None, "no JSON")
            return self._json(400, {"error": {"message": "the body is no JSON"}})
        if self._bare_path == "/_control":
            return self._control(body)
        api = apis.of(self._bare_path)
        size = tokens(raw)
        if api is None:
            self._record(body, "")
            return self._answer(apis.count(self._bare_path, size))
        conversation = api.read(body, self._bare_path)
        plan = self.server.model.decide(conversation)
        number = self._record(body, repr(plan)[:300]).number
        self._carry_out(_Call(api, conversation, plan, number, size))
        return None

    def _carry_out(self, call: _Call) -> None:
        plan = call.plan
        if isinstance(plan, Fault):
            self._json(plan.status, call.api.problem(plan), plan.headers)
        elif isinstance(plan, Silence):
            self._wait_until_gone()
        elif call.conversation.stream:
            self._stream(call)
        elif isinstance(plan, Answer) and plan.ending is Ending.CUT:
            self.close_connection = True  # an answer in one piece breaks off before it began
        elif isinstance(plan, Answer) and plan.ending is Ending.STALL:
            self._wait_until_gone()
        else:
            self._json(200, call.api.whole(plan, call.conversation, call.number, call.request_tokens))

    def _stream(self, call: _Call) -> None:
        assert not isinstance(call.plan, Fault | Silence)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")  # its end is the end of the body
        self.end_headers()
        for frame in call.api.frames(call.plan, call.conversation, call.number, call.request_tokens):
            data = frame.data if isinstance(frame.data, str) else json.dumps(frame.data)
            name = f"event: {frame.event}\n" if frame.event else ""
            self.wfile.write(f"{name}data: {data}\n\n".encode())
            self.wfile.flush()
            if frame.pause_s and self.server.closing.wait(frame.pause_s):
                return
        if isinstance(call.plan, Answer) and call.plan.ending is Ending.STALL:
            self._wait_until_gone()

    def _wait_until_gone(self, limit_s: float = 900.0) -> None:
        """Until the client hangs up, the stub closes, or the limit."""
        self.close_connection = True
        end = time.monotonic() + limit_s
        while time.monotonic() < end and not self.server.closing.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.25)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                return

    def _control(self, body: dict[str, Any]) -> None:
        """``{"force": WORD}`` forces a magic word on every request, ``{"force": ""}`` ends that."""
        try:
            self.server.model.force(str(body.get("force") or ""))
        except ValueError as error:
            return self._json(422, {"error": {"message": str(error)}})
        return self._json(200, {"force": body.get("force") or ""})

    def _read_body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").casefold():
            raw = b"".join(iter(self._read_chunk, b""))
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(raw) if self.headers.get("content-encoding", "") == "gzip" else raw

    def _read_chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _record(self, body: Any, plan: str) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        return self.server.model.record(self.command, self.path, headers, body, plan)

    @property
    def _bare_path(self) -> str:
        return self.path.partition("?")[0]

    def _answer(self, found: dict[str, Any] | None) -> None:
        if found is None:
            return self._json(404, {"error": {"type": "not_found_error", "message": f"no {self._bare_path} here"}})
        return self._json(200, found)

    def _json(self, status: int, value: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), {"content-type": "application/json", **(headers or {})})

    def _send(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
