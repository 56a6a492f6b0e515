"""The Agent Client Protocol, version 1, as a pure driver for every agent that speaks it.

``initialize`` → ``authenticate`` where the manifest names a method → ``session/new``, or ``session/resume`` or
``session/load`` → mode and model → `Ready`; then one ``session/prompt`` at a time. The agents differ in what they say
outside a prompt, in how errors look, and in what a second prompt does; so text outside a prompt is unsolicited, the
failures all go through `classify`, and a second prompt is never sent while one runs.

Options of the manifest: ``auth_method``; ``mode_ask``/``mode_bypass`` (a mode id); ``config_ask``/``config_bypass``
(``id=value`` of a config option); ``model_by`` (``set_model`` or ``config``); ``effort_config`` (a config option's id).

In version 1 the answer to ``session/prompt`` ends the turn, in version 2 a ``state_update`` will: `_turn_ended` is the
one place that either reaches.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kai import __version__
from kai.model.context import Prompt
from kai.model.errors import FailureKind
from kai.model.events import Choice, Failed, Finished, Started, Steered, TextDelta, Thinking, Unsolicited, Usage
from kai.protocols.acp_calls import Calls, unasked
from kai.protocols.acp_settings import Setting, engine, permissions
from kai.protocols.calls import content_text
from kai.protocols.classify import (
    Evidence,
    at_start,
    classify,
    error_in,
    error_notice,
    is_notice,
    may_be_error,
    of_kind,
)
from kai.protocols.driver import DriverSetup, Lost, Output, Outputs, Ready, Send, Skipped, Wake, prompt_id
from kai.wire import jsonrpc
from kai.wire.jsonrpc import ErrorReply, Id, Noise, Notification, Request, Response
from kai.wire.values import Json, amount, integer, items, pretty, record, text

_REPLAYED = "replayed"
_REPLAYED_S = 0.4  # some agents go on with the replay after they have answered the load
_ASIDE = "aside"
_ASIDE_S = 1.0  # text outside a prompt comes in pieces and without an end: a pause makes one message of it
_ASIDE_CHARS = 16_000
_QUIET = frozenset({"plan", "available_commands_update", "session_info_update", "config_option_update"})
_QUIET |= {"current_mode_update", "user_message_chunk"}

_BAD_ENDS = {
    "refusal": (FailureKind.REFUSED, ""),
    "max_tokens": (FailureKind.CONTEXT, "the answer was cut at the model's limit"),
    "max_turn_requests": (FailureKind.PROTOCOL, "it stopped after as many steps as it may take"),
}

_Then = Callable[[Any], list[Output]]
_Failed = Callable[[ErrorReply], list[Output]]


def prompt_frame(prompt: Prompt, session_id: str) -> bytes:
    """The ``session/prompt`` line: media first, then the text byte for byte."""
    blocks: list[Json] = [
        {"type": "image", "mimeType": media.media_type, "data": base64.b64encode(media.data).decode()}
        for media in prompt.media
    ]
    blocks.append({"type": "text", "text": prompt.text})
    return jsonrpc.request(prompt_id(prompt), "session/prompt", {"sessionId": session_id, "prompt": blocks})


@dataclass
class _Turn:
    """The prompt in flight. `held` is text that may be an error in the agent's mouth; it is shown once it is none."""

    id: Id
    cost_before: float | None
    bare: bool = False
    begun: bool = False
    stopping: bool = False
    said: str = ""  # only as much as an error could be long
    held: str = ""
    notice: str = ""  # the last that the agent told of itself, when no word of the model came after it
    message: str = ""
    broken: bool = False  # something came between two pieces of text
    messages: set[str] = field(default_factory=set)


class Acp:
    """The driver. One object a process; one session in it."""

    def __init__(self, setup: DriverSetup) -> None:
        self._setup = setup
        self._resume = ""
        self._session_id = ""
        self._agent = ""
        self._model = ""
        self._capabilities: Json = {}
        self._requests = 0
        self._pending: dict[Id | None, tuple[_Then, _Failed]] = {}
        self._wanted = setup.model
        self._settings: list[Setting] = []
        self._ready = False
        self._quiet = True  # until the first prompt: what comes is the replay of a loaded session
        self._waits = False  # for the end of that replay
        self._worked = False
        self._turn: _Turn | None = None
        self._former: set[str] = set()  # messages of the turn before
        self._former_stopped = False
        self._repeats_ids = False  # this agent gives messages of different turns the same id
        self._aside = ""
        self._usage = Usage()
        self._cost: float | None = None
        self._calls = Calls(auto_allow=setup.permissions == "bypass", unasked=unasked(setup.mcp_servers))

    # What the Session calls

    @property
    def native_id(self) -> str:
        return self._session_id

    def start(self, resume: str) -> Outputs:
        self._resume = resume
        client = {"name": "kai", "title": "kai", "version": __version__}
        offers = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        params = {"protocolVersion": 1, "clientCapabilities": offers, "clientInfo": client}
        return self._ask_agent("initialize", params, self._initialized, self._lost)

    def set_model(self, model: str, effort: str) -> Outputs:
        self._wanted, self._settings = model, engine(self._setup, model, effort)
        return self._next_setting()

    def frame(self, prompt: Prompt) -> bytes:
        return prompt_frame(prompt, self._session_id)

    def prompt(self, prompt: Prompt) -> Outputs:
        out = self._flush_aside()
        self._quiet = False
        cost_before = self._cost if self._cost is not None or self._resume else 0.0
        self._turn = _Turn(prompt_id(prompt), cost_before, prompt.bare)
        self._usage = Usage()
        self._calls.forget()
        self._pending[self._turn.id] = self._prompt_answered, self._prompt_failed
        return [*out, Send(prompt_frame(prompt, self._session_id))]

    def steer(self, prompt: Prompt) -> Outputs:
        return [Steered(prompt.dispatch, taken=False)]  # nothing of the kind is known of this protocol

    def answer(self, ask: str, choice: Choice | None, text: str = "") -> Outputs:
        return self._calls.answer(ask, choice)

    def interrupt(self) -> Outputs:
        if self._turn is None:
            return []
        self._turn.stopping = True
        cancel = Send(jsonrpc.notification("session/cancel", {"sessionId": self._session_id}))
        # An agent whose question is left open after a cancel never asks again, and hangs at its next tool.
        return [cancel, *self._calls.cancel()]

    def feed(self, line: bytes) -> Outputs:
        if not line.strip():
            return []
        match jsonrpc.decode(line):
            case Notification("session/update", params):
                return self._session_update(params)
            case Notification(method, _):
                return [Skipped(f"notification {method[:60]!r}")]
            case Request() as request:
                return self._request(request)
            case Response(id_, value):
                return self._pending.pop(id_, _UNASKED)[0](value)
            case ErrorReply(id_) as reply:
                return self._pending.pop(id_, _UNASKED)[1](reply)
            case Noise():
                return [Skipped("a line that is no message")]

    def wake(self, name: str) -> Outputs:
        if name == _REPLAYED and self._waits:
            return self._become_ready()
        return self._flush_aside() if name == _ASIDE else []

    def eof(self, exit_code: int | None, stderr_tail: str) -> Outputs:
        failed = classify(Evidence(ended=True, exit_code=exit_code, stderr=stderr_tail))
        if not self._ready:
            return [Lost.of(at_start(failed))]
        if (turn := self._turn) is None:
            return self._flush_aside()
        return self._end(turn, Finished(stopped=True) if turn.stopping else failed)

    # Until the session is ready

    def _initialized(self, value: Any) -> list[Output]:
        answer = record(value)
        self._capabilities = record(answer.get("agentCapabilities"))
        if not self._capabilities and "capabilities" in answer:
            # The number alone says nothing: one agent echoes 2 and goes on in version 1.
            return [Lost("The agent speaks only a newer version of ACP.", FailureKind.UNSUPPORTED)]
        info = record(answer.get("agentInfo"))
        self._agent = f"{text(info.get('name'))} {text(info.get('version'))}".strip()
        methods = [record(method) for method in items(answer.get("authMethods"))]
        wanted = self._setup.option("auth_method")
        if wanted and wanted in [text(method.get("id")) for method in methods]:
            params = {"methodId": wanted}
            return self._ask_agent("authenticate", params, lambda _: self._open_session(), self._login_failed)
        return self._open_session()

    def _open_session(self) -> list[Output]:
        place: Json = {"cwd": self._setup.cwd, "mcpServers": self._mcp_servers()}
        if not self._resume:
            return self._ask_agent("session/new", place, self._session_opened, self._lost)
        params = {"sessionId": self._resume, **place}
        resumes = "resume" in record(self._capabilities.get("sessionCapabilities"))
        if resumes and not self._is_quirky("takes_up_anything"):
            return self._ask_agent("session/resume", params, self._session_opened, self._resume_failed)
        if self._capabilities.get("loadSession") is True:
            return self._ask_agent("session/load", params, self._session_opened, self._resume_failed)
        return [Lost.of(of_kind(FailureKind.RESUME, "it cannot take up sessions"))]

    def _mcp_servers(self) -> list[Json]:
        return [
            {
                "name": server.name,
                "command": server.command,
                "args": list(server.args),
                "env": [{"name": name, "value": value} for name, value in server.env],
            }
            for server in self._setup.mcp_servers
        ]

    def _session_opened(self, value: Any) -> list[Output]:
        answer = record(value)
        if self._resume and not answer and self._is_quirky("takes_up_anything"):
            return [Lost.of(of_kind(FailureKind.RESUME, "it does not know it"))]
        self._session_id = text(answer.get("sessionId")) or self._resume
        if not self._session_id:
            return [Lost.of(of_kind(FailureKind.PROTOCOL, "it gave its session no id"))]
        self._model = text(record(answer.get("models")).get("currentModelId"))
        self._settings = [*permissions(self._setup), *engine(self._setup, self._setup.model, self._setup.effort)]
        return self._next_setting()

    def _next_setting(self) -> list[Output]:
        if not self._settings:
            # A session that was taken up is ready once its replay has been still for a while.
            self._waits = bool(self._resume) and not self._ready
            return [Wake(_REPLAYED_S, _REPLAYED)] if self._waits else self._become_ready()
        method, params, kind = self._settings.pop(0)
        return self._ask_agent(
            method,
            {"sessionId": self._session_id, **params},
            lambda _: self._next_setting(),
            # Going on in another mode than the person chose would be going on with other permissions.
            lambda reply: self._not_set(of_kind(kind, f"{method}: {_said(reply)}")),
        )

    def _not_set(self, failed: Failed) -> list[Output]:
        # A model that is refused between two turns, where it comes first, leaves all as it was.
        return [failed if self._ready and failed.kind is FailureKind.MODEL else Lost.of(failed)]

    def _become_ready(self) -> list[Output]:
        self._ready, self._waits = True, False
        self._model = self._wanted or self._model
        return [Ready(self._session_id, bool(self._resume), self._agent, self._model)]

    def _ask_agent(
        self,
        method: str,
        params: Json,
        then: Callable[[Any], list[Output]],
        failed: Callable[[ErrorReply], list[Output]],
    ) -> list[Output]:
        self._requests += 1
        self._pending[self._requests] = then, failed
        return [Send(jsonrpc.request(self._requests, method, params))]

    def _lost(self, reply: ErrorReply) -> list[Output]:
        return [Lost.of(_failure(reply))]

    def _login_failed(self, reply: ErrorReply) -> list[Output]:
        return [Lost.of(of_kind(FailureKind.LOGIN, _said(reply)))]

    def _resume_failed(self, reply: ErrorReply) -> list[Output]:
        login = _failure(reply).kind is FailureKind.LOGIN
        return [Lost.of(of_kind(FailureKind.LOGIN if login else FailureKind.RESUME, _said(reply)))]

    # Requests and updates from the agent

    def _request(self, request: Request) -> list[Output]:
        if request.method != "session/request_permission":
            # At once: an agent that asks for what nobody offered waits for the answer.
            refusal = jsonrpc.error(request.id, jsonrpc.METHOD_NOT_FOUND, f"Method not found: {request.method}")
            return [Send(refusal), Skipped(f"request {request.method[:60]!r}")]
        turn = self._turn
        waiting = turn is not None and not turn.stopping
        asked = self._calls.ask(request.id, request.params, anyone_there=waiting)
        return asked if turn is None else [*self._begin(turn), *self._interrupt_text(turn), *asked]

    def _session_update(self, params: Json) -> list[Output]:
        update = record(params.get("update"))
        kind = text(update.get("sessionUpdate"))
        if self._waits:
            return [Wake(_REPLAYED_S, _REPLAYED)]
        if self._quiet or text(params.get("sessionId")) not in ("", self._session_id):
            return []
        turn = self._turn
        if turn is None:
            return self._outside(kind, update)
        return [*self._begin(turn), *self._update(turn, kind, update)]

    def _begin(self, turn: _Turn) -> list[Output]:
        """The first sign that the agent has taken the prompt."""
        begun, turn.begun = turn.begun, True
        return [] if begun else [Started(self._session_id, self._model, self._agent)]

    def _interrupt_text(self, turn: _Turn) -> list[Output]:
        """Something else comes: text after it is a new paragraph, and what was held back is no mere error."""
        turn.broken = True
        return self._release()

    def _outside(self, kind: str, update: Json) -> list[Output]:
        """What comes when no prompt runs. Only text is kept, as unsolicited."""
        if kind == "usage_update":
            self._note_usage(update)
        if kind != "agent_message_chunk":
            return []
        return self._put_aside(content_text(update.get("content")))

    def _put_aside(self, said: str) -> list[Output]:
        self._aside += said
        return self._flush_aside() if len(self._aside) > _ASIDE_CHARS else [Wake(_ASIDE_S, _ASIDE)]

    def _update(self, turn: _Turn, kind: str, update: Json) -> list[Output]:
        match kind:
            case "agent_message_chunk":
                return self._chunk(turn, text(update.get("messageId")), content_text(update.get("content")))
            case "agent_thought_chunk":
                turn.broken = True
                return [Thinking(content_text(update.get("content")))]
            case "tool_call" | "tool_call_update":
                return [*self._interrupt_text(turn), *self._calls.note(update)]
            case "usage_update":
                self._note_usage(update)
                return []
            case kind if kind in _QUIET:
                return []
            case _:
                return [Skipped(f"update {kind[:60]!r}")]

    def _chunk(self, turn: _Turn, message: str, said: str) -> list[Output]:
        if message in self._former and not self._repeats_ids:
            if self._former_stopped:
                return self._put_aside(said)
            self._repeats_ids = True
        if not said:
            return []
        if (turn.stopping or self._is_quirky("tells_notices")) and is_notice(said):
            turn.notice, turn.broken = said, True
            return []
        turn.notice = ""
        if (turn.said or turn.held) and (turn.broken if not message else message != turn.message):
            said = f"\n\n{said}"
        turn.message, turn.broken = message, False
        turn.messages.add(message)
        turn.held += said
        if not turn.said and not self._calls.any and may_be_error(turn.held):
            return []
        return self._release()

    def _release(self) -> list[Output]:
        """Show what was held back."""
        if (turn := self._turn) is None or not turn.held:
            return []
        held, turn.held = turn.held, ""
        turn.said = (turn.said + held)[:1_000]
        return [TextDelta(held)]

    def _note_usage(self, update: Json) -> None:
        cost = record(update.get("cost"))
        if text(cost.get("currency")) == "USD":
            self._cost = amount(cost.get("amount"))
        self._usage = Usage(used_tokens=integer(update.get("used")), window_tokens=integer(update.get("size")))

    # Ends of turns

    def _prompt_answered(self, value: Any) -> list[Output]:
        answer = record(value)
        return self._turn_ended(text(answer.get("stopReason")), record(answer.get("_meta")))

    def _turn_ended(self, reason: str, meta: Json) -> list[Output]:
        if (turn := self._turn) is None:
            return []
        usage = self._whole_usage(turn, meta)
        end = self._judge(turn, reason, meta)
        if isinstance(end, Finished) and not end.stopped:
            self._worked = True
        ended = self._end(turn, end, keep_held=isinstance(end, Finished), before=[usage] if usage != Usage() else [])
        if turn.stopping and self._is_quirky("stop_spoils"):
            ended.append(Lost("The agent keeps no session over a stop.", FailureKind.PROTOCOL))
        return ended

    def _judge(self, turn: _Turn, reason: str, meta: Json) -> Finished | Failed:
        """What a stop reason came to; one that is not known is an ordinary end."""
        whole = (turn.said + turn.held).strip()
        if reason == "cancelled":
            return Finished(stopped=True)
        if failed := error_notice(turn.notice) or (None if self._calls.any else error_in(whole)):
            return failed
        if not whole and not self._calls.any and self._resume and not self._worked:
            return of_kind(FailureKind.RESUME, "it ended at once, without a turn", session_lost=True)
        if reason in _BAD_ENDS:
            return of_kind(*_BAD_ENDS[reason])
        if not whole and not self._calls.any:
            return of_kind(FailureKind.EMPTY)
        if _no_model_finished(meta) and not turn.bare:
            return of_kind(FailureKind.PROVIDER, "the answer broke off")
        return Finished()

    def _prompt_failed(self, reply: ErrorReply) -> list[Output]:
        if (turn := self._turn) is None:
            return []
        if turn.stopping:
            # One agent answers a cancel in the middle of a tool with an internal error and takes no prompt ever after.
            lost = Lost("The agent answered the stop with an error.", FailureKind.PROTOCOL, _said(reply))
            return [*self._end(turn, Finished(stopped=True), keep_held=True), lost]
        failed = _failure(reply)
        lasting = failed.kind in (FailureKind.RESUME, FailureKind.CONTEXT)
        lasting |= failed.kind is FailureKind.LOGIN and self._is_quirky("latches_login")
        lasting |= failed.kind is FailureKind.PROTOCOL and self._is_quirky("stop_spoils")
        # What was held back looked like an error, and here the error is: it is said once.
        return self._end(turn, Failed(failed.kind, failed.sentence, failed.detail, failed.resets_at, lasting))

    def _end(
        self, turn: _Turn, end: Finished | Failed, *, keep_held: bool = False, before: list[Output] | None = None
    ) -> list[Output]:
        held = self._release() if keep_held else []
        self._turn = None
        self._pending.pop(turn.id, None)
        self._former, self._former_stopped = turn.messages - {""}, turn.stopping
        calls = self._calls.cancel() if end != Finished() else [*self._calls.cancel(), *self._calls.finish()]
        return [*held, *(before or []), *calls, end, *self._flush_aside()]

    def _is_quirky(self, quirk: str) -> bool:
        return quirk in self._setup.manifest.quirks

    def _whole_usage(self, turn: _Turn, meta: Json) -> Usage:
        quota = record(record(meta.get("quota")).get("token_count"))
        cost = self._cost - turn.cost_before if self._cost is not None and turn.cost_before is not None else None
        return Usage(
            input_tokens=integer(quota.get("inputTokens", quota.get("input_tokens"))) or None,
            output_tokens=integer(quota.get("outputTokens", quota.get("output_tokens"))) or None,
            cost_usd=cost,
            window_tokens=self._usage.window_tokens,
            used_tokens=self._usage.used_tokens,
        )

    def _flush_aside(self) -> list[Output]:
        said, self._aside = self._aside, ""
        return [Unsolicited(said)] if said.strip() else []


def _unasked(_: Any) -> list[Output]:
    return [Skipped("an answer to nothing that was asked")]


_UNASKED: tuple[_Then, _Failed] = (_unasked, _unasked)


def _said(reply: ErrorReply) -> str:
    """The words of an error, with the details that some agents put beside a mere "Internal error"."""
    data = reply.data if isinstance(reply.data, str) else record(reply.data).get("details")
    more = pretty(data) if data else ""
    message = reply.message.removeprefix("Internal error: ")
    return f"{message}: {more}" if more and more not in message else message


def _no_model_finished(meta: Json) -> bool:
    """Gemini ends a turn whose stream broke off like any other, but counts no model's answer in it."""
    quota = record(meta.get("quota"))
    return "model_usage" in quota and not items(quota.get("model_usage"))


def _failure(reply: ErrorReply) -> Failed:
    kind = text(record(reply.data).get("errorKind"))
    return classify(Evidence(text=_said(reply), code=kind, rpc_code=reply.code))
