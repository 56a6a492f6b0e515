"""A stand-in for the daemon: a real HTTP server on a unix socket, with canned answers. It keeps what it was asked."""

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from pydantic_core import to_json

from kai.model.events import Choice, ChoiceKind
from kai.model.ids import AddressId, ChannelId, DeliveryId, TurnId
from kai.model.messages import Accepted
from kai.model.states import DeliveryState, TurnState
from kai.model.turns import Delivery, DeliveryKind

Row = dict[str, Any]
Event = tuple[str, Any, int | None]  # name, data, number
CHANNEL = ChannelId("c-main")
CHOICES = (
    Choice("a", "Allow once", ChoiceKind.ALLOW_ONCE),
    Choice("b", "Allow always", ChoiceKind.ALLOW_ALWAYS),
    Choice("c", "Deny", ChoiceKind.REJECT_ONCE),
)


def ask_row(ask: str = "q-1", title: str = "Run a command?", detail: str = "rm -rf build") -> Row:
    choices = [{"key": one.key, "label": one.label, "kind": one.kind.value} for one in CHOICES]
    expires = "2026-11-30T18:00:00+00:00"
    return {"type": "ask", "ask": ask, "title": title, "detail": detail, "choices": choices, "expires_at": expires}


def text_row(text: str) -> Row:
    return {"type": "text", "text": text}


def tool_row(tool: str, name: str = "", target: str = "", ok: bool | None = None, detail: str = "") -> Row:
    return {"type": "tool", "id": tool, "name": name, "target": target, "ok": ok, "detail": detail}


def state_row(state: str) -> Row:
    return {"type": "state", "state": state}


def end_row(text: str = "", state: TurnState = TurnState.DONE, reason: str = "") -> Row:
    return {"type": "end", "state": state.value, "text": text, "reason": reason, "failure": None}


@dataclass
class FakeTurn:
    """A turn and what has happened in it so far."""

    turn: str
    words: str
    rows: list[Row] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: Any
    headers: dict[str, str]


class FakeDaemon:
    """Answers `canned[method, path]` first; messages, turns, events and deliveries are a small play of their own.

    `on_message` is called with the turn of each accepted message, and says what happens in it by `tell`.
    """

    def __init__(self, path: Path) -> None:
        self.socket = path
        self.asked: list[Asked] = []
        self.canned: dict[tuple[str, str], tuple[int, Any]] = {}
        self.computed: dict[tuple[str, str], Callable[[dict[str, list[str]]], Any]] = {}  # from the query
        self.turns: dict[str, FakeTurn] = {}
        self.owed: list[Delivery] = []
        self.on_message: Callable[[FakeTurn], None] = lambda turn: self.tell(turn.turn, end_row("ok"))
        self.on_answer: Callable[[Row], None] = lambda body: None
        self.unanswered = 0  # requests, streams left aside
        self.drops = 0  # so many accepted messages get no answer: the connection breaks
        self._changed = threading.Condition()
        self._is_up = False
        self._generation = 0

    # What a test does

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        self.socket.unlink(missing_ok=True)
        daemon = self

        class Handler(_Handler):
            fake = daemon

        self._server = _Server(str(self.socket), Handler)
        self._is_up = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """As a killed daemon: the socket stays, every connection breaks."""
        with self._changed:
            self._is_up = False
            self._generation += 1
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._server.cut()
        self._thread.join()

    def tell(self, turn: str, *rows: Row) -> None:
        """Rows happen in a turn; its end is owed as a delivery, too, as the real one does it."""
        with self._changed:
            self.turns.setdefault(turn, FakeTurn(turn, "")).rows.extend(rows)
            for row in rows:
                if row["type"] == "end":
                    self._owe_end(turn, row)
            self._changed.notify_all()

    def owe(self, kind: DeliveryKind, text: str, **more: Any) -> None:
        with self._changed:
            self._owe(kind, text, **more)
            self._changed.notify_all()

    def wait(self, condition: Callable[[], object], limit_s: float = 8.0) -> None:
        """Until `condition` holds; it is looked at whenever something was asked or told."""
        with self._changed:
            assert self._changed.wait_for(condition, limit_s), "it did not happen in time"

    def bodies(self, method: str, path: str) -> list[Any]:
        return [one.body for one in self.asked if (one.method, one.path) == (method, path)]

    def said(self) -> list[str]:
        """The words of every accepted message."""
        return [turn.words for turn in self.turns.values()]

    def receipts(self) -> list[str]:
        return [one.path.split("/")[3] for one in self.asked if one.path.endswith("/receipt")]

    def unconfirmed(self) -> list[str]:
        """Deliveries without a receipt."""
        return [one.delivery for one in self.owed if one.delivery not in self.receipts()]

    # What the server does

    def _owe(self, kind: DeliveryKind, text: str, **more: Any) -> None:
        number = len(self.owed) + 1
        self.owed.append(
            Delivery(
                DeliveryId(f"d-{number}"),
                number,
                AddressId("a-1"),
                "terminal",
                "p-ann",
                "",
                CHANNEL,
                kind,
                text,
                DeliveryState.CLAIMED,
                datetime(2026, 11, 30, tzinfo=UTC),
                **more,
            )
        )

    def _owe_end(self, turn: str, row: Row) -> None:
        if row["text"]:
            state = TurnState(row["state"]) if row["state"] == "done" else None
            self._owe(DeliveryKind.ANSWER, row["text"], turn=TurnId(turn), turn_state=state)
        if row["state"] != "done":
            self._owe(DeliveryKind.NOTICE, row["reason"], turn=TurnId(turn), turn_state=TurnState(row["state"]))

    def note(self, asked: Asked) -> None:
        with self._changed:
            self.asked.append(asked)
            self._changed.notify_all()

    def accept(self, body: Row) -> Accepted:
        with self._changed:
            key = body["external_id"]
            known = next((turn for turn in self.turns.values() if getattr(turn, "key", "") == key), None)
            if known is not None:
                return Accepted(None, TurnId(known.turn), CHANNEL, duplicate=True)
            running = sum(not turn.rows or turn.rows[-1]["type"] != "end" for turn in self.turns.values())
            turn = FakeTurn(f"t-{len(self.turns) + 1}", body["text"])
            turn.key = key  # type: ignore[attr-defined]
            self.turns[turn.turn] = turn
        self.on_message(turn)
        return Accepted(None, TurnId(turn.turn), CHANNEL, queued_before=running)

    def events_of(self, turn: str) -> Iterator[Event]:
        for row in self._growing(self.turns[turn].rows):
            yield row["type"], row, None
            if row["type"] == "end":
                return

    def deliveries_after(self, after: int) -> Iterator[Event]:
        for found in self._growing(self.owed, after):
            if found.delivery not in self.receipts():
                yield "delivery", found, found.number

    def _growing(self, things: list[Any], place: int = 0) -> Iterator[Any]:
        """What is in a list and what comes into it, until the daemon goes down."""
        generation = self._generation

        def is_news() -> bool:
            return generation != self._generation or len(things) > place

        while True:
            with self._changed:
                self._changed.wait_for(is_news, 20)
                if generation != self._generation or len(things) <= place:
                    return
            place += 1
            yield things[place - 1]


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, path: str, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(path, handler)
        self._connections: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def cut(self) -> None:
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients of these tests are killed in the middle of things


class _Handler(BaseHTTPRequestHandler):
    fake: FakeDaemon
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        pass

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        url = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(content) if content else None
        asked = Asked(self.command, url.path, parse_qs(url.query), body, headers)
        self.fake.note(asked)
        is_stream = self.command == "GET" and url.path.endswith(("/events", "/deliveries"))
        self.fake.unanswered += not is_stream
        try:
            if (canned := self.fake.canned.get((asked.method, asked.path))) is not None:
                self._send(*canned)
            elif (computed := self.fake.computed.get((asked.method, asked.path))) is not None:
                self._send(200, computed(asked.query))
            else:
                self._play(asked, asked.path.strip("/").split("/"))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.fake.unanswered -= not is_stream

    def _play(self, asked: Asked, path: list[str]) -> None:
        fake = self.fake
        match asked.method, *path:
            case "POST", "v1", "messages":
                accepted = fake.accept(asked.body)
                if fake.drops:
                    fake.drops -= 1
                    self.close_connection = True
                else:
                    self._send(202, asdict(accepted))
            case "GET", "v1", "deliveries":
                self._stream(fake.deliveries_after(int(asked.query.get("after", ["0"])[0])))
            case "POST", "v1", "deliveries", _, "receipt":
                self._send(204, None)
            case "GET", "v1", "turns", turn, "events" if turn in fake.turns:
                self._stream(fake.events_of(turn))
            case "GET", "v1", "turns", turn if turn in fake.turns:
                self._send(200, {"turn": turn, "channel": CHANNEL, "text": fake.turns[turn].words})
            case "POST", "v1", "turns", turn, "stop":
                fake.tell(turn, end_row("", TurnState.STOPPED, "Stopped."))
                self._send(
                    200,
                    {
                        "turn": turn,
                        "state": "stopped",
                        "sentence": "Stopped after 0.1 s (interrupt); the session is kept.",
                    },
                )
            case "POST", "v1", "questions", _, "answer":
                fake.on_answer(asked.body)
                self._send(200, {})
            case "GET", "v1", "status":
                self._send(200, {})
            case _:
                detail = f"There is no {asked.method} {asked.path}."
                self._send(404, {"title": "Not found", "status": 404, "detail": detail, "hint": "", "field": ""})

    def _send(self, status: int, body: Any) -> None:
        data = b"" if body is None else to_json(body)
        self.send_response(status)
        self.send_header("content-type", "application/json" if status < 400 else "application/problem+json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Any) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data, number in events:
            head = "" if number is None else f"id: {number}\n"
            self.wfile.write(f"{head}event: {name}\ndata: ".encode() + to_json(data) + b"\n\n")
            self.wfile.flush()
