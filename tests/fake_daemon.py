"""A stand-in for the daemon: a real HTTP server on a unix socket that gives canned answers and keeps what it was asked."""

import json
import socketserver
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from pydantic_core import to_json

from kai.model.events import Choice, ChoiceKind
from kai.model.ids import AddressId, AskId, ChannelId, DeliveryId, TurnId
from kai.model.messages import Accepted
from kai.model.states import DeliveryState, TurnState
from kai.model.turns import Delivery, DeliveryKind

Row = dict[str, Any]
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

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.asked: list[Asked] = []
        self.canned: dict[tuple[str, str], tuple[int, Any]] = {}
        self.turns: dict[str, FakeTurn] = {}
        self.owed: list[Delivery | Row] = []
        self.on_message: Callable[[FakeTurn], None] = lambda turn: self.tell(turn.turn, end_row("ok"))
        self.on_answer: Callable[[Row], None] = lambda body: None
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

    def progress(self, turn: str, text: str) -> None:
        with self._changed:
            self.owed.append({"turn": turn, "state": "running", "text": text, "tools": []})
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

    def rows_of(self, turn: str) -> Any:
        place, generation = 0, self._generation
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: generation != self._generation or len(self.turns[turn].rows) > place, 10
                )
                if generation != self._generation:
                    return
                row = self.turns[turn].rows[place]
            place += 1
            yield row["type"], row, None
            if row["type"] == "end":
                return

    def deliveries_after(self, after: int) -> Any:
        place, generation = after, self._generation
        while True:
            with self._changed:
                self._changed.wait_for(lambda: generation != self._generation or len(self.owed) > place, 10)
                if generation != self._generation:
                    return
                found = self.owed[place]
            place += 1
            if isinstance(found, Delivery) and found.delivery in self.receipts():
                continue
            if isinstance(found, Delivery):
                yield "delivery", found, found.number
            else:
                yield "progress", found, None


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

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
        fake, url = self.fake, urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.loads(content) if content else None
        headers = {name.lower(): value for name, value in self.headers.items()}
        fake.note(Asked(self.command, url.path, parse_qs(url.query), body, headers))
        parts = url.path.strip("/").split("/")
        try:
            if (canned := fake.canned.get((self.command, url.path))) is not None:
                self._send(*canned)
            elif url.path == "/v1/messages":
                self._send(202, asdict(fake.accept(body)))
            elif url.path == "/v1/deliveries":
                after = parse_qs(url.query).get("after", ["0"])[0]
                self._stream(fake.deliveries_after(int(after)))
            elif parts[1] == "turns" and parts[-1] == "events" and parts[2] in fake.turns:
                self._stream(fake.rows_of(parts[2]))
            elif parts[1] == "turns" and len(parts) == 3 and parts[2] in fake.turns:
                turn = fake.turns[parts[2]]
                self._send(200, {"turn": turn.turn, "channel": CHANNEL, "text": turn.words})
            elif parts[-1] == "stop":
                fake.tell(parts[2], end_row("", TurnState.STOPPED, "Stopped."))
                self._send(200, {"turn": parts[2], "sentence": "Stopped after 0.1 s (interrupt); the session is kept."})
            elif parts[-1] == "answer":
                fake.on_answer(body)
                self._send(200, {})
            elif parts[-1] == "receipt":
                self._send(204, None)
            elif url.path == "/v1/status":
                self._send(200, {})
            elif url.path == "/v1/people":
                self._send(200, [])
            else:
                detail = f"There is no {self.command} {url.path}."
                self._send(404, {"title": "Not found", "status": 404, "detail": detail, "hint": "", "field": ""})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

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
