"""Codex's app-server protocol as a pure driver: JSON-RPC, one thread in one process, one turn at a time.

``initialize`` → ``account/read`` → ``thread/start`` or ``thread/resume`` → what is really in force is compared with
what was asked for → `Ready`; then a ``turn/start`` for each prompt. A turn is over with ``turn/completed`` of its own
id and with nothing else: not when the thread is idle, not with the last item. What bears another turn's id is not its.

The server says nothing at all to a line that it cannot read, and waits for a network without end: so every request has
a deadline, and so have its retries. Model and effort are set with the thread, where the answer tells whether they hold;
a turn is then nothing but the text.

Options of the manifest: ``model_provider``; ``patience_s``, how long it may retry without getting any further.
"""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from kai import __version__
from kai.model.context import Prompt
from kai.model.errors import FailureKind
from kai.model.events import (
    Choice,
    Compacted,
    Failed,
    Finished,
    Limit,
    Started,
    Steered,
    TextDelta,
    Thinking,
    ToolCall,
    Unsolicited,
    Usage,
)
from kai.model.ids import DispatchId
from kai.protocols.app_server_answer import Answer
from kai.protocols.app_server_asks import Asks
from kai.protocols.app_server_items import call_of, result_of
from kai.protocols.app_server_meter import Meter
from kai.protocols.app_server_thread import difference, thread_params
from kai.protocols.classify import Evidence, at_start, classify, of_kind, short
from kai.protocols.driver import DriverSetup, Lost, Output, Outputs, Ready, Send, Skipped, Wake, prompt_id
from kai.text.safe import safe
from kai.wire import jsonrpc
from kai.wire.jsonrpc import ErrorReply, Id, Noise, Notification, Request, Response
from kai.wire.values import Json, integer, items, record, text

INPUT_CHARS = 1_048_576  # of all text parts of one turn
_ANSWER_S = 20.0
_ANSWER = "answer"
_PATIENCE_S = 120.0
_PATIENCE = "patience"
# Nothing that kai uses, some of it often or long: not sent at all.
_UNWANTED = (
    "thread/started", "thread/status/changed", "thread/readState/changed", "thread/name/updated",
    "thread/settings/updated", "remoteControl/status/changed", "turn/diff/updated", "turn/plan/updated",
    "rawResponseItem/completed", "item/reasoning/summaryPartAdded", "account/updated", "app/list/updated",
    "skills/changed", "mcpServer/startupStatus/updated", "deprecationNotice",
)  # fmt: skip
_QUIET = frozenset(_UNWANTED) | {
    "warning", "configWarning", "item/commandExecution/outputDelta", "item/commandExecution/terminalInteraction",
    "item/fileChange/outputDelta", "item/fileChange/patchUpdated", "item/mcpToolCall/progress", "item/plan/delta",
    "account/login/completed", "hook/started", "hook/completed", "model/rerouted", "thread/compacted", "thread/closed",
}  # fmt: skip
_NO_SERVER = "required MCP servers failed"
_AGENT = re.compile(r"[^/\s]+/(\S+)")  # clientInfo.name/VERSION (…)


def prompt_frame(prompt: Prompt, thread: str) -> bytes:
    """The ``turn/start`` line: images first, then the text in one part, byte for byte but for half surrogate pairs.

    A line with one of those gets no answer of any kind.
    """
    return jsonrpc.request(prompt_id(prompt), "turn/start", {"threadId": thread, "input": _input(prompt)})


def _input(prompt: Prompt) -> list[Json]:
    images: list[Json] = [
        {"type": "image", "url": f"data:{media.media_type};base64,{base64.b64encode(media.data).decode()}"}
        for media in prompt.media
    ]
    return [*images, {"type": "text", "text": text(prompt.text)}]


_Then = Callable[[Any], list[Output]]
_Failed = Callable[[ErrorReply], list[Output]]


@dataclass
class _Turn:
    """The prompt in flight. `id` is Codex's, known from its answer; what comes before that waits in `early`."""

    request: Id
    id: str = ""
    live: bool = False  # it can be interrupted
    stopping: bool = False
    retrying: Failed | None = None  # for this reason, and no further since
    verdict: Failed | None = None  # why it was interrupted, where nobody wanted that
    answer: Answer = field(default_factory=Answer)
    tools: bool = False
    thought: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)
    early: list[Notification] = field(default_factory=list)


class AppServer:
    """The driver. One object a process; one thread in it."""

    def __init__(self, setup: DriverSetup) -> None:
        self._setup = setup
        self._patience_s = float(setup.option("patience_s") or _PATIENCE_S)
        self._resume = ""
        self._thread = ""
        self._version = ""
        self._model = setup.model
        self._requests = 0
        self._due: Id = 0  # the request whose answer has a deadline: there is never more than one
        self._pending: dict[Id | None, tuple[str, _Then, _Failed]] = {}
        self._ready = False
        self._waits = True  # for its MCP servers: a turn that begins before they are up has none of their tools
        self._worked = False  # the thread that was taken up answers
        self._turn: _Turn | None = None
        self._meter = Meter()
        self._asks = Asks(auto_allow=setup.permissions == "bypass")
        self._handlers: dict[str, Callable[[_Turn, Json], list[Output]]] = {
            "turn/started": self._turn_started,
            "turn/completed": self._turn_completed,
            "item/started": self._item_started,
            "item/completed": self._item_completed,
            "item/agentMessage/delta": lambda turn, params: [*turn.answer.delta(*_delta(params))],
            "item/reasoning/summaryTextDelta": self._thought,
            "item/reasoning/textDelta": self._thought,
            "thread/tokenUsage/updated": self._used,
            "error": self._error,
        }

    # What the Session calls

    @property
    def native_id(self) -> str:
        return self._thread

    def start(self, resume: str) -> Outputs:
        self._resume = resume
        client = {"name": "kai", "title": "kai", "version": __version__}
        # experimentalApi: without it thread/backgroundTerminals/clean is refused.
        able = {"experimentalApi": True, "optOutNotificationMethods": list(_UNWANTED)}
        return self._ask("initialize", {"clientInfo": client, "capabilities": able}, self._initialized, self._lost)

    def set_model(self, model: str, effort: str) -> Outputs:
        self._setup = replace(self._setup, model=model or self._setup.model, effort=effort or self._setup.effort)
        chosen = {name: value for name, value in (("model", model), ("effort", effort)) if value}
        thread: Json = {"threadId": self._thread}
        # It takes whatever it is told. What holds is told by the answer to a resume, which changes nothing of a thread
        # that is loaded.
        return self._ask(
            "thread/settings/update",
            {**thread, **chosen},
            lambda _: self._ask("thread/resume", {**thread, "excludeTurns": True}, self._holds, self._lost),
            self._lost,
        )

    def frame(self, prompt: Prompt) -> bytes:
        return prompt_frame(prompt, self._thread)

    def prompt(self, prompt: Prompt) -> Outputs:
        if (chars := len(prompt.text)) > INPUT_CHARS:
            too_long = f"{chars:,} characters where it takes {INPUT_CHARS:,}"
            return [of_kind(FailureKind.CONTEXT, too_long)]
        request = prompt_id(prompt)
        turn = self._turn = _Turn(request)
        self._meter.begin()
        self._asks.forget()
        accepted, refused = partial(self._turn_accepted, turn), partial(self._turn_refused, turn)
        self._pending[request] = "turn/start", accepted, refused
        self._due = request
        return [Wake(_ANSWER_S, _ANSWER), Send(prompt_frame(prompt, self._thread))]

    def steer(self, prompt: Prompt) -> Outputs:
        turn, request = self._turn, prompt_id(prompt)
        if turn is None or not turn.live or turn.stopping or len(prompt.text) > INPUT_CHARS:
            return [Steered(prompt.dispatch, taken=False)]
        taken, refused = (partial(_steered, prompt.dispatch, taken=took) for took in (True, False))
        self._pending[request] = "turn/steer", taken, refused
        where = {"threadId": self._thread, "expectedTurnId": turn.id}
        return [Send(jsonrpc.request(request, "turn/steer", {**where, "input": _input(prompt)}))]

    def answer(self, ask: str, choice: Choice | None, text: str = "") -> Outputs:
        return self._asks.answer(ask, choice, text)

    def interrupt(self) -> Outputs:
        if self._turn is None:
            return []
        self._turn.stopping = True
        return self._interrupt(self._turn)

    def feed(self, line: bytes) -> Outputs:
        if not line.strip():
            return []
        match jsonrpc.decode(line):
            case Notification() as told:
                return self._notified(told)
            case Request() as request:
                waiting = self._turn is not None and not self._turn.stopping
                return self._asks.ask(request, anyone_there=waiting)
            case Response(id_, value):
                return self._pending.pop(id_, _UNASKED)[1](value)
            case ErrorReply(id_) as reply:
                return self._pending.pop(id_, _UNASKED)[2](reply)
            case Noise():
                return [Skipped("a line that is no message")]

    def wake(self, name: str) -> Outputs:
        if name == _PATIENCE:
            return self._lose_patience()
        waits = name == _ANSWER and self._due in self._pending
        return self._unanswered(self._pending[self._due][0]) if waits else []

    def eof(self, exit_code: int | None, stderr_tail: str) -> Outputs:
        failed = classify(Evidence(ended=True, exit_code=exit_code, stderr=safe(stderr_tail)))
        if not self._ready:
            return [Lost.of(at_start(failed))]
        if (turn := self._turn) is None:
            return []
        return self._end(turn, Finished(stopped=True) if turn.stopping else failed)

    # Until the session is ready

    def _ask(self, method: str, params: Json, then: _Then, failed: _Failed) -> list[Output]:
        self._requests += 1
        self._pending[self._requests] = method, then, failed
        self._due = self._requests
        frame = Send(jsonrpc.request(self._requests, method, params))
        return [frame, Wake(_ANSWER_S, _ANSWER)]

    def _initialized(self, value: Any) -> list[Output]:
        found = _AGENT.match(text(record(value).get("userAgent")))
        self._version = found[1] if found else ""
        told = Send(jsonrpc.notification("initialized", {}))
        return [
            told,
            *self._ask("account/read", {"refreshToken": False}, self._account_read, lambda _: self._open_thread()),
        ]

    def _account_read(self, value: Any) -> list[Output]:
        account = record(value)
        if account.get("requiresOpenaiAuth") is True and not account.get("account"):
            return [Lost.of(of_kind(FailureKind.LOGIN))]
        return self._open_thread()

    def _open_thread(self) -> list[Output]:
        params = thread_params(self._setup, self._resume, waits=self._waits)
        if self._resume:
            return self._ask("thread/resume", params, self._thread_opened, self._open_failed)
        return self._ask("thread/start", params, self._thread_opened, self._open_failed)

    def _open_failed(self, reply: ErrorReply) -> list[Output]:
        if self._waits and _NO_SERVER in reply.message:
            self._waits = False  # without kai's tools rather than not at all
            return [Skipped("its MCP server did not come up"), *self._open_thread()]
        return self._resume_failed(reply) if self._resume else self._lost(reply)

    def _thread_opened(self, value: Any) -> list[Output]:
        answer = record(value)
        self._thread = text(record(answer.get("thread")).get("id"))
        if not self._thread or (self._resume and self._thread != self._resume):
            kind = FailureKind.RESUME if self._resume else FailureKind.PROTOCOL
            return [Lost.of(of_kind(kind, f"it opened the thread {self._thread!r}"))]
        self._meter.open(is_new=not self._resume)
        return self._holds(answer)

    def _holds(self, answer: Any) -> list[Output]:
        if lost := difference(self._setup, record(answer)):
            return [lost]
        self._model = text(record(answer).get("model"))
        self._ready = True
        return [Ready(self._thread, bool(self._resume), self._version, self._model)]

    def _lost(self, reply: ErrorReply) -> list[Output]:
        return [Lost.of(_refused(reply))]

    def _resume_failed(self, reply: ErrorReply) -> list[Output]:
        login = _refused(reply).kind is FailureKind.LOGIN
        return [Lost.of(of_kind(FailureKind.LOGIN if login else FailureKind.RESUME, reply.message))]

    def _unanswered(self, method: str) -> list[Output]:
        sentence = f"Codex did not answer {method} within {_ANSWER_S:g} s."
        lost = Lost(sentence, FailureKind.SILENT)
        if (turn := self._turn) is None:
            return [lost]
        # It may have dropped the line, or yet begin the turn: this process is not to be relied on.
        return [*self._end(turn, Failed(FailureKind.SILENT, sentence, session_lost=True)), lost]

    # A turn

    def _notified(self, told: Notification) -> list[Output]:
        method, params = told.method, told.params
        if method == "account/rateLimits/updated":
            return self._limited(record(params.get("rateLimits")))
        if method == "serverRequest/resolved":
            request = params.get("requestId")
            return self._asks.withdraw(request if isinstance(request, str) else integer(request))
        if method not in self._handlers:
            return [] if method in _QUIET else [Skipped(f"notification {method[:60]!r}")]
        if text(params.get("threadId")) != self._thread:
            return []  # a sub-agent's words are not the answer
        turn = self._turn
        if turn is not None and not turn.id:
            turn.early.append(told)
            return []
        which = text(params.get("turnId")) or text(record(params.get("turn")).get("id"))
        if turn is None or which != turn.id:
            return self._outside(method, params)
        out = self._handlers[method](turn, params)
        if any(isinstance(one, TextDelta | Thinking | ToolCall) for one in out):
            turn.retrying = None
        return out

    def _outside(self, method: str, params: Json) -> list[Output]:
        """Of a turn that is over, or that nobody asked for. Only whole messages are kept, as unsolicited."""
        item = record(params.get("item"))
        match method, text(item.get("type")):
            case "item/completed", "agentMessage":
                said = text(item.get("text"))
                return [Unsolicited(said)] if said.strip() else []
            case "item/completed", "contextCompaction":
                return [Compacted()]
            case "thread/tokenUsage/updated", _:
                self._meter.count(params)
        return []

    def _turn_accepted(self, turn: _Turn, value: Any) -> list[Output]:
        turn.id = text(record(record(value).get("turn")).get("id"))
        if not turn.id:
            return self._end(turn, of_kind(FailureKind.PROTOCOL, "it gave the turn no id", session_lost=True))
        early, turn.early = turn.early, []
        out: list[Output] = [Started(self._thread, self._model, self._version)]
        for told in early:
            out += self._notified(told)
        return out

    def _turn_refused(self, turn: _Turn, reply: ErrorReply) -> list[Output]:
        failed = _refused(reply)
        lost = failed.kind in (FailureKind.RESUME, FailureKind.PROTOCOL)
        return self._end(turn, replace(failed, session_lost=lost))

    def _turn_started(self, turn: _Turn, _: Json) -> list[Output]:
        turn.live = True
        return self._interrupt(turn) if turn.stopping or turn.verdict else []

    def _interrupt(self, turn: _Turn) -> list[Output]:
        """Before the turn has begun there is nothing to interrupt, and it would be refused: then when it begins."""
        return self._send("turn/interrupt", {"turnId": turn.id}) if turn.live else []

    def _send(self, method: str, params: Json) -> list[Output]:
        """A request whose answer says nothing new, and which has no deadline of its own."""
        self._requests += 1
        self._pending[self._requests] = method, _ignored, _ignored
        return [Send(jsonrpc.request(self._requests, method, {"threadId": self._thread, **params}))]

    def _item_started(self, turn: _Turn, params: Json) -> list[Output]:
        item = record(params.get("item"))
        self._asks.note(item)
        call = call_of(item)
        turn.tools |= call is not None
        return [call] if call else []

    def _item_completed(self, turn: _Turn, params: Json) -> list[Output]:
        item = record(params.get("item"))
        item_id = text(item.get("id"))
        match text(item.get("type")):
            case "agentMessage":
                return [*turn.answer.complete(item_id, text(item.get("text")))]
            case "contextCompaction":
                return [Compacted()]
            case "reasoning" if item_id not in turn.thought:
                return [Thinking(text(part)) for part in items(item.get("summary"))]
        call, result = call_of(item), result_of(item)
        turn.tools |= call is not None
        return [call, result] if call and result else []

    def _thought(self, turn: _Turn, params: Json) -> list[Output]:
        item, said = _delta(params)
        turn.thought.add(item)
        return [Thinking(said)]

    def _used(self, turn: _Turn, params: Json) -> list[Output]:
        turn.usage = self._meter.count(params)
        return []

    def _error(self, turn: _Turn, params: Json) -> list[Output]:
        """Codex tries again; the error that ends a turn comes with its end."""
        error = record(params.get("error"))
        if params.get("willRetry") is not True:
            return []
        why = text(error.get("additionalDetails")) or text(error.get("message"))
        limit = Limit(f"The provider did not answer ({short(why)}). {short(text(error.get('message')))}")
        if turn.retrying:
            return [limit]
        turn.retrying = _failure({**error, "message": why})
        return [limit, Wake(self._patience_s, _PATIENCE)]

    def _lose_patience(self) -> list[Output]:
        turn = self._turn
        if turn is None or turn.stopping or turn.retrying is None:
            return []
        turn.verdict = turn.retrying
        return self._interrupt(turn)

    def _limited(self, update: Json) -> list[Output]:
        if not self._meter.limit(update) or self._turn is None:
            return []
        return [Limit(of_kind(FailureKind.QUOTA).sentence, self._meter.resets_at())]

    # Ends of turns

    def _turn_completed(self, turn: _Turn, params: Json) -> list[Output]:
        ended = record(params.get("turn"))
        status = text(ended.get("status"))
        end = self._judge(turn, status, record(ended.get("error")))
        usage = [turn.usage] if turn.usage != Usage() else []
        # An interrupt ends the turn and not the command that runs in it.
        clean = self._send("thread/backgroundTerminals/clean", {}) if status == "interrupted" else []
        return [*usage, *self._end(turn, end), *clean]

    def _judge(self, turn: _Turn, status: str, error: Json) -> Finished | Failed:
        if status == "interrupted":
            return turn.verdict or Finished(stopped=True, text=turn.answer.corrected)
        if status == "failed":
            failed = _failure(error)
            resets_at = failed.resets_at or (self._meter.resets_at() if failed.kind is FailureKind.QUOTA else None)
            return replace(failed, resets_at=resets_at)
        if turn.answer.is_empty and not turn.tools:
            if self._resume and not self._worked:
                return of_kind(FailureKind.RESUME, "it ended at once, without a turn", session_lost=True)
            return of_kind(FailureKind.EMPTY)
        self._worked = True
        return Finished(text=turn.answer.corrected)

    def _end(self, turn: _Turn, end: Finished | Failed) -> list[Output]:
        self._pending.pop(turn.request, None)
        self._turn = None
        return [*self._asks.forget(), end]


def _ignored(_: Any) -> list[Output]:
    return []


def _steered(dispatch: DispatchId, _: Any, *, taken: bool) -> list[Output]:
    return [Steered(dispatch, taken)]


def _unasked(_: Any) -> list[Output]:
    return [Skipped("an answer to nothing that was asked")]


_UNASKED: tuple[str, _Then, _Failed] = ("", _unasked, _unasked)


def _delta(params: Json) -> tuple[str, str]:
    return text(params.get("itemId")), text(params.get("delta"))


def _failure(error: Json) -> Failed:
    """What the error of a turn comes to: its kind is a word, or a word with a status of HTTP."""
    info = error.get("codexErrorInfo")
    code = text(info) or next((text(name) for name in record(info)), "")
    status = integer(record(record(info).get(code)).get("httpStatusCode"))
    words = text(error.get("message"))
    more = text(error.get("additionalDetails"))
    return classify(
        Evidence(text=f"{words}: {more}" if more and more not in words else words, status=status, code=code)
    )


def _refused(reply: ErrorReply) -> Failed:
    code = text(record(reply.data).get("input_error_code"))
    return classify(Evidence(text=reply.message, code=code, rpc_code=reply.code))
