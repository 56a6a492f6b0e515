"""Pi's RPC mode (``pi --mode rpc``) as a pure driver.

It counts on these flags from the manifest: ``--no-extensions --no-skills --no-prompt-templates``, so that text which
begins with ``/`` is no command; ``--session-id ID`` in a resumed run, which makes a new session where there is none:
that is seen by its state; and ``-e gate.ts`` when permissions are "ask", which says of itself that it is in place.

Three things decide its shape. A run ends at ``agent_settled`` and not before: what looks like an end may be followed by
a retry, a compaction, a queued message. A failed attempt's text is said again by the next one, so `message_end` tells
what counts. And nothing in the stream names its prompt: until the prompt's own response what comes belongs to others.
"""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

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
    ToolResult,
    Unsolicited,
    Usage,
)
from kai.model.ids import DispatchId
from kai.protocols.calls import content_text, target_of
from kai.protocols.classify import Evidence, classify, of_kind, short
from kai.protocols.driver import DriverSetup, Lost, Output, Outputs, Ready, Send, Skipped, Wake, dispatch_uuid
from kai.protocols.pi_rpc_asks import Asks
from kai.wire.values import Json, amount, integer, items, line_of, parse, record, text

_TAKEN = "taken"
_TAKEN_S = 60.0  # a prompt is answered within milliseconds, or once an expired login was renewed over the network
_TOO_OLD = "below 0.84 it repeats its whole answer with every piece of it, which takes gigabytes; update it"
_NO_MODEL = "it has no model to work with: run 'pi' and /login, or give it a key"
_QUIET = frozenset({"agent_start", "turn_start", "turn_end", "agent_end", "queue_update", "tool_execution_update"})
_QUIET |= {"auto_retry_end", "compaction_start", "entry_appended", "session_info_changed", "thinking_level_changed"}
_NODE = re.compile(r"^Node\.js v(\S+)$", re.MULTILINE)  # the last words of one that met what it does not know
_HTTP = re.compile(r"(\d{3})\b:?\s*(\{.*\})?", re.DOTALL)


def prompt_frame(prompt: Prompt) -> bytes:
    """The ``prompt`` command: text byte for byte, but for half surrogate pairs, which no provider takes."""
    # In the middle of a run that an extension began, a prompt without this is refused; in an idle session it is void.
    return line_of({**_with_words("prompt", prompt), "streamingBehavior": "followUp"})


def _with_words(kind: str, prompt: Prompt) -> Json:
    command: Json = {"id": str(dispatch_uuid(prompt.dispatch)), "type": kind, "message": text(prompt.text)}
    if not prompt.media:
        return command
    images = [(base64.b64encode(media.data).decode(), media.media_type) for media in prompt.media]
    return {**command, "images": [{"type": "image", "data": data, "mimeType": kind} for data, kind in images]}


@dataclass
class _Turn:
    """Our prompt in flight. `begun`: what Pi says now belongs to it. `messages` are the whole texts that count."""

    id: str
    words: str
    taken: bool = False
    begun: bool = False
    stopping: bool = False
    tools: bool = False
    shown: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    streamed: str = ""  # of the message that is being said
    held: str = ""  # of an attempt that has so far only repeated what the failed one had said
    failed: str = ""  # what that one had said
    reason: str = ""  # why the last message ended
    error: str = ""
    used: list[Json] = field(default_factory=list)
    steered: dict[DispatchId, str] = field(default_factory=dict)  # words on their way into the run

    def say(self, piece: str) -> list[Output]:
        """Show a piece of the message that is being said, with a blank line in front when it is not the first."""
        between = "\n\n" if self.shown and not self.streamed else ""
        self.streamed += piece
        if self.failed:
            self.held += piece
            if self.failed.startswith(self.held):
                return []
            goes_on = self.held.startswith(self.failed)
            piece, between = (self.held[len(self.failed) :], "") if goes_on else (self.held, "\n\n")
            self.held = self.failed = ""
        self.shown.append(between + piece)
        return [TextDelta(between + piece)]

    def ended(self, whole: str) -> list[Output]:
        """The message is complete: what of it never came as a delta is shown now."""
        rest = whole.removeprefix(self.streamed) if whole.startswith(self.streamed) else ""
        out = self.say(rest) if rest else []
        self.messages.append(whole)
        self.streamed = self.held = self.failed = ""
        return out

    def retracted(self) -> None:
        """The last message was a failed attempt: the next one takes its place."""
        if self.messages:
            self.failed = self.messages.pop()

    @property
    def counted(self) -> str:
        return "\n\n".join(message for message in self.messages if message)


class PiRpc:
    """The driver. One object a process; one session in it."""

    def __init__(self, setup: DriverSetup) -> None:
        self._setup = setup
        self._resume = ""
        self._session_id = ""
        self._status: dict[str, str] = {}  # what kai's own extensions say of themselves
        self._model = ""
        self._window: int | None = None
        self._ready = False
        self._lost = False
        self._worked = False
        self._turn: _Turn | None = None
        self._requests = 0
        self._pending: dict[str, Callable[[Json], list[Output]]] = {}
        self._asks = Asks()
        self._handlers: dict[str, Callable[[Json], list[Output]]] = {
            "response": self._response,
            "message_start": self._message_start,
            "message_update": self._message_update,
            "message_end": self._message_end,
            "tool_execution_start": self._tool_start,
            "tool_execution_end": self._tool_end,
            "auto_retry_start": self._retry,
            "compaction_end": self._compaction_end,
            "agent_settled": self._settled,
            "extension_ui_request": self._extension_ui,
        }

    # What the Session calls

    @property
    def native_id(self) -> str:
        return self._session_id

    def start(self, resume: str) -> Outputs:
        self._resume = self._session_id = resume
        # Only a Pi that does not repeat itself knows the first of these, and there is nothing yet that it could clear.
        return [self._command("clear_queue", self._probed), self._command("get_state", self._told_state)]

    def set_model(self, model: str, effort: str) -> Outputs:
        self._setup = replace(self._setup, model=model or self._setup.model, effort=effort or self._setup.effort)
        provider, _, name = (model if "/" in model else f"{self._model.partition('/')[0]}/{model}").partition("/")
        steps: list[Json] = [{"type": "set_model", "provider": provider, "modelId": name}] if model else []
        steps += [{"type": "set_thinking_level", "level": effort}] if effort else []
        return self._step(steps, {"success": True})

    def _step(self, steps: list[Json], answer: Json) -> list[Output]:
        """Then the state tells what holds. It knows a model here by its whole name only: a new start may know it."""
        if answer.get("success") is not True:
            return [self._give_up(of_kind(FailureKind.PROTOCOL, text(answer.get("error"))))]
        if not steps:
            return [self._command("get_state", self._told_state)]
        return [self._command(**steps[0], then=partial(self._step, steps[1:]))]

    def frame(self, prompt: Prompt) -> bytes:
        return prompt_frame(prompt)

    def prompt(self, prompt: Prompt) -> Outputs:
        self._turn = turn = _Turn(str(dispatch_uuid(prompt.dispatch)), text(prompt.text))
        self._pending[turn.id] = self._prompt_answered
        return [Wake(_TAKEN_S, _TAKEN), Send(prompt_frame(prompt))]

    def steer(self, prompt: Prompt) -> Outputs:
        turn = self._ours
        if turn is None or turn.stopping:
            return [Steered(prompt.dispatch, taken=False)]
        # Its answer says only that it is queued: the agent has the words when the run echoes them.
        turn.steered[prompt.dispatch] = text(prompt.text)
        self._pending[str(dispatch_uuid(prompt.dispatch))] = _answered
        return [Send(line_of(_with_words("steer", prompt)))]

    def answer(self, ask: str, choice: Choice | None, text: str = "") -> Outputs:
        return self._asks.answer(ask, choice, text)

    def interrupt(self) -> Outputs:
        if self._turn is None:
            return []
        self._turn.stopping = True
        # Before Pi has taken the prompt an abort would meet an idle session, and the run would begin after it.
        return self._abort() if self._turn.taken else self._asks.cancel()

    def feed(self, line: bytes) -> Outputs:
        if not line.strip():
            return []
        msg = parse(line)
        if not isinstance(msg, dict):
            return [Skipped("a line that is no JSON object")]
        kind = text(msg.get("type"))
        if handler := self._handlers.get(kind):
            return handler(msg)
        return [] if kind in _QUIET else [Skipped(f"type {kind[:40]!r}")]

    def wake(self, name: str) -> Outputs:
        if name != _TAKEN:
            return self._asks.timed_out(name)
        if self._turn is None or self._turn.taken:
            return []
        return self._end(of_kind(FailureKind.PROTOCOL, "it did not take the message", session_lost=True))

    def eof(self, exit_code: int | None, stderr_tail: str) -> Outputs:
        failed = classify(Evidence(ended=True, exit_code=exit_code, stderr=stderr_tail))
        if not self._ready:
            return [] if self._lost else [self._not_started(failed, stderr_tail)]
        if self._turn is None:
            return []
        return self._end(Finished(stopped=True) if self._turn.stopping else failed)

    # Until the session is ready

    def _not_started(self, failed: Failed, stderr: str) -> Lost:
        found = _NODE.search(stderr)
        if found and self._setup.manifest.node_min:
            told = f"it needs Node {self._setup.manifest.node_min} or newer, and was started with {found[1]}"
            return self._give_up(of_kind(FailureKind.LAUNCH, told))
        kind = FailureKind.LAUNCH if failed.kind is FailureKind.CRASH else failed.kind
        return self._give_up(of_kind(kind, failed.sentence))

    def _probed(self, msg: Json) -> list[Output]:
        return [] if msg.get("success") is True else [self._give_up(of_kind(FailureKind.OLD, _TOO_OLD))]

    def _told_state(self, msg: Json) -> list[Output]:
        """The state as it is now, and not what was asked for, decides whether this is the session that was wanted."""
        if self._lost:
            return []
        state, model = record(msg.get("data")), record(record(msg.get("data")).get("model"))
        name, provider = text(model.get("id")), text(model.get("provider"))
        self._model = f"{provider}/{name}" if provider else name
        self._window = integer(model.get("contextWindow")) or None
        if failed := self._unfit(msg, state, model):
            return [self._give_up(failed)]
        self._session_id, self._ready = text(state.get("sessionId")), True
        return [Ready(self._session_id, bool(self._resume), self._status.get("kai.version", ""), self._model)]

    def _unfit(self, msg: Json, state: Json, model: Json) -> Failed | None:
        setup, session, level = self._setup, text(state.get("sessionId")), text(state.get("thinkingLevel"))
        began_anew = session != self._resume or not integer(state.get("messageCount"))
        is_other = bool(setup.model) and not _is_named(setup.model, self._model, text(model.get("name")))
        level_told = f"{self._model} thinks at {level!r} where {setup.effort!r} was chosen"
        asks_nobody = setup.permissions == "ask" and self._status.get("kai.gate") != "on"
        gateless = "it would run tools without asking: its gate is not in place"
        told = text(msg.get("error")) or "it did not tell its state"
        faults = (
            (msg.get("success") is not True or not session, FailureKind.PROTOCOL, told),
            (text(model.get("id")) in ("", "unknown"), FailureKind.LOGIN, _NO_MODEL),
            (self._resume and began_anew, FailureKind.RESUME, "it does not know the session in this folder (any more)"),
            (is_other, FailureKind.MODEL, f"it took {self._model} for {setup.model}"),
            (setup.effort and level != setup.effort, FailureKind.UNSUPPORTED, level_told),
            (asks_nobody, FailureKind.UNSUPPORTED, gateless),
        )
        return next((of_kind(kind, words) for is_so, kind, words in faults if is_so), None)

    def _give_up(self, failed: Failed) -> Lost:
        self._lost = True
        return Lost(failed.sentence, failed.kind, failed.detail)

    # Responses

    def _command(self, type: str, then: Callable[[Json], list[Output]] | None = None, **fields: str) -> Send:  # noqa: A002 - as Pi names it
        self._requests += 1
        self._pending[key := f"kai-{self._requests}"] = then or _answered
        return Send(line_of({"id": key, "type": type, **fields}))

    def _response(self, msg: Json) -> list[Output]:
        if handler := self._pending.pop(text(msg.get("id")), None):
            return handler(msg)
        turn = self._turn
        if msg.get("success") is False and "id" not in msg:
            # It could not tell what it answers: an old one that was probed, or it could not read the prompt's line.
            if not self._ready:
                return [] if self._lost else self._probed(msg)
            if turn is not None and not turn.taken:
                return self._prompt_answered(msg)
        return [Skipped("an answer to nothing that was asked")]

    def _prompt_answered(self, msg: Json) -> list[Output]:
        turn = self._turn
        if turn is None or turn.taken:
            return []
        turn.taken = True
        if msg.get("success") is not True:
            error = text(msg.get("error")).partition("\n\n")[0]  # then it names pages of its own documentation
            return self._end(Finished(stopped=True) if turn.stopping else classify(Evidence(text=error)))
        disposition = text(record(msg.get("data")).get("disposition"))
        if disposition == "handled":  # by an extension, and no run follows
            return [*self._begin(turn), *self._end(Finished(stopped=turn.stopping))]
        return [] if disposition == "queued" else self._begin(turn)

    def _begin(self, turn: _Turn) -> list[Output]:
        turn.begun = True
        started = Started(self._session_id, self._model, self._status.get("kai.version", ""))
        return [started, *self._abort()] if turn.stopping else [started]

    def _abort(self) -> list[Output]:
        """Dialogs first: an abort waits for whoever waits for one. Then what is queued, which would stay parked."""
        return [*self._asks.cancel(), self._command("clear_queue"), self._command("abort")]

    # Events of a run

    @property
    def _ours(self) -> _Turn | None:
        """Our turn, when what Pi says now belongs to it."""
        return self._turn if self._turn is not None and self._turn.begun else None

    def _message_start(self, msg: Json) -> list[Output]:
        message, turn = record(msg.get("message")), self._turn
        if turn is None or not turn.taken or text(message.get("role")) != "user":
            return []
        words = content_text(message.get("content"))
        if not turn.begun:
            return self._begin(turn) if words == turn.words else []
        steered = next((dispatch for dispatch, said in turn.steered.items() if said == words), None)
        if steered is None:
            return []
        del turn.steered[steered]
        return [Steered(steered, taken=True)]

    def _message_update(self, msg: Json) -> list[Output]:
        event = record(msg.get("assistantMessageEvent"))
        said = text(event.get("delta"))
        if (turn := self._ours) is None or not said:
            return []
        if event.get("type") == "text_delta":
            return turn.say(said)
        return [Thinking(said)] if event.get("type") == "thinking_delta" else []

    def _message_end(self, msg: Json) -> list[Output]:
        message = record(msg.get("message"))
        if text(message.get("role")) != "assistant":
            return []
        blocks = [record(block) for block in items(message.get("content"))]
        said = "".join(text(block.get("text")) for block in blocks if block.get("type") == "text")
        if (turn := self._ours) is None:
            return [Unsolicited(said)] if said.strip() else []
        turn.reason, turn.error = text(message.get("stopReason")), text(message.get("errorMessage"))
        turn.used.append(record(message.get("usage")))
        return turn.ended(said)

    def _tool_start(self, msg: Json) -> list[Output]:
        if (turn := self._ours) is None or not (tool := text(msg.get("toolCallId"))):
            return []
        turn.tools = True
        return [ToolCall(tool, text(msg.get("toolName")) or "tool", target_of(msg.get("args")))]

    def _tool_end(self, msg: Json) -> list[Output]:
        if self._ours is None or not (tool := text(msg.get("toolCallId"))):
            return []
        said = content_text(record(msg.get("result")).get("content"))
        return [*self._asks.withdraw(tool), ToolResult(tool, not msg.get("isError"), said)]

    def _retry(self, msg: Json) -> list[Output]:
        if (turn := self._ours) is None:
            return []
        turn.retracted()
        tries = f"try {integer(msg.get('attempt')) or '?'} of {integer(msg.get('maxAttempts')) or '?'}"
        return [Limit(f"The provider did not answer ({short(_plain(text(msg.get('errorMessage')))[0])}); {tries}.")]

    def _compaction_end(self, msg: Json) -> list[Output]:
        if msg.get("willRetry") and (turn := self._ours):
            turn.retracted()
        return [Compacted()] if record(msg.get("result")) else []

    def _extension_ui(self, msg: Json) -> list[Output]:
        self._status[text(msg.get("statusKey"))] = text(msg.get("statusText"))
        # Also before the prompt's response: a command of an extension asks before it is answered as handled.
        turn = self._turn
        return self._asks.ask(msg, anyone_there=turn is not None and not turn.stopping)

    # Ends of turns

    def _settled(self, msg: Json) -> list[Output]:
        turn = self._turn
        if turn is None or not turn.taken:
            return []
        end = self._judge(turn, aborted=bool(msg.get("aborted")))
        if isinstance(end, Finished) and not end.stopped:
            self._worked = True
        return self._end(end)

    def _judge(self, turn: _Turn, *, aborted: bool) -> Finished | Failed:
        """What a run came to, by its last message: a provider's error is no failed command."""
        if turn.stopping or aborted or turn.reason == "aborted":
            return Finished(stopped=True)
        if not turn.begun:
            return of_kind(FailureKind.PROTOCOL, "it dropped the message")
        if turn.reason == "error":
            said, status = _plain(turn.error)
            failed = classify(Evidence(text=said, status=status))
            return replace(failed, detail=turn.error, session_lost=failed.kind is FailureKind.CONTEXT)
        if turn.reason == "length":
            return of_kind(FailureKind.CONTEXT, "the answer was cut at the model's limit")
        if not turn.counted.strip() and not turn.tools:
            first = self._resume and not self._worked
            kind = FailureKind.RESUME if first else FailureKind.EMPTY
            return of_kind(kind, "it ended at once, without a turn" if first else "", session_lost=bool(first))
        return Finished(text="" if turn.counted == "".join(turn.shown) else turn.counted)

    def _end(self, end: Finished | Failed) -> list[Output]:
        usage = self._usage(self._turn.used) if self._turn else Usage()
        if self._turn is not None:
            self._pending.pop(self._turn.id, None)
        left: list[Output] = []
        if self._turn is not None and self._turn.steered:  # parked, they would ride along with the next prompt
            left = [*(Steered(dispatch, taken=False) for dispatch in self._turn.steered), self._command("clear_queue")]
        self._turn = None
        return [*left, *self._asks.cancel(), *([usage] if usage != Usage() else []), end]

    def _usage(self, used: list[Json]) -> Usage:
        """Summed over the turn's requests; `used_tokens` is the last one's, which is what the conversation holds."""

        def total(*names: str) -> int:
            return sum(integer(one.get(name)) or 0 for one in used for name in names)

        tokens = [integer(one.get("totalTokens")) for one in used]
        if not (last := next((number for number in reversed(tokens) if number), None)):
            return Usage()
        return Usage(
            input_tokens=total("input", "cacheRead", "cacheWrite"),
            output_tokens=total("output"),
            cost_usd=sum(amount(record(one.get("cost")).get("total")) or 0.0 for one in used),
            window_tokens=self._window,
            used_tokens=last,
        )


def _answered(msg: Json) -> list[Output]:
    return [] if msg.get("success") is True else [Skipped(f"a refused {text(msg.get('command'))[:40]!r}")]


def _plain(error: str) -> tuple[str, int | None]:
    """An error of a provider as Pi hands it on (``429: {"message": …}``) in words, and its HTTP status."""
    found = _HTTP.match(error)
    if found is None or not 400 <= int(found[1]) < 600:
        return error, None
    body = record(parse((found[2] or "").encode("utf-8", "replace")))
    message = text(body.get("message")) or text(record(body.get("error")).get("message"))
    return f"{found[1]}: {message}" if message else error, int(found[1])


def _is_named(asked: str, model: str, title: str) -> bool:
    """Pi takes a part of a model's name for it; what it took must at least hold what was asked for."""
    said = asked, asked.rpartition(":")[0], model, title
    whole, without_level, *names = (re.sub("[^a-z0-9]", "", one.lower()) for one in said)
    return any(whole in name or (without_level and without_level in name) for name in names)
