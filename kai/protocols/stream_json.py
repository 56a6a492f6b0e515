"""Claude Code's stream-JSON as a pure driver.

It counts on these flags from the manifest: ``-p --input-format stream-json --output-format stream-json --verbose
--include-partial-messages --permission-prompt-tool stdio``, with ``--resume ID`` in a resumed run.

Three things decide its shape. A result says nothing by its ``subtype`` alone. The CLI starts turns of its own (work in
the background that ends), so that a result is ours only when the CLI says so: every message carries a uuid that comes
back in ``command_lifecycle`` and in ``user_message_uuids``. And text comes twice, as deltas and as whole blocks: deltas
are shown, blocks tell at the end what of it counts (a retried request repeats what it had said).

What is sent is not inert: the CLI reads ``@path`` in it and runs a ``/command`` at its very start. The assembler
disarms both; what gets here is sent byte for byte.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kai.model.context import Prompt
from kai.model.errors import FailureKind
from kai.model.events import (
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
from kai.protocols.calls import content_text, target_of
from kai.protocols.classify import Evidence, at_start, classify, moment, of_kind
from kai.protocols.driver import Background, DriverSetup, Lost, Output, Outputs, Ready, Send, Skipped, dispatch_uuid
from kai.protocols.stream_json_asks import Asks
from kai.wire.values import Json, amount, integer, items, line_of, parse, record, text

_INTERRUPTED = "[ede_diagnostic]"  # the CLI's own name for a turn that an interrupt ended
_QUIET = frozenset({"keep_alive", "tool_progress", "tool_use_summary", "auth_status", "prompt_suggestion"})
_QUIET_SYSTEM = frozenset({"status", "thinking_tokens", "permission_denied", "task_started", "task_updated"})
_QUIET_SYSTEM |= {"task_notification", "task_progress", "session_state_changed"}


def prompt_frame(prompt: Prompt) -> bytes:
    """The user message for `prompt`: its text byte for byte, media in blocks before it."""
    content: str | list[Json] = prompt.text
    if prompt.media:
        content = [_image(media.media_type, media.data) for media in prompt.media]
        content.append({"type": "text", "text": prompt.text})
    message = {"role": "user", "content": content}
    ids = {"parent_tool_use_id": None, "session_id": "", "uuid": str(dispatch_uuid(prompt.dispatch))}
    return line_of({"type": "user", "message": message, **ids})


def _image(media_type: str, data: bytes) -> Json:
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


@dataclass
class _Turn:
    """Our prompt in flight. `begun`: the CLI says that it works on it now."""

    uuid: str
    begun: bool = False
    stopping: bool = False
    stop_when_begun: bool = False
    retried: bool = False
    tools: bool = False
    error_code: str = ""
    error_text: str = ""
    resets_at: float | None = None
    said: list[str] = field(default_factory=list)  # as shown, with the blank lines between messages
    last_message: str = ""
    streamed: set[str] = field(default_factory=set)  # ids of messages whose text came as deltas
    blocks: dict[str, list[str]] = field(default_factory=dict)  # message id → its whole text blocks

    def say(self, message: str, said: str) -> list[Output]:
        """Show a piece, with a blank line in front when another message begins."""
        if not said:
            return []
        if self.said and message != self.last_message:
            said = f"\n\n{said}"
        self.last_message = message
        self.said.append(said)
        return [TextDelta(said)]

    @property
    def counted(self) -> str:
        """The text that the CLI stands by at the end."""
        return "\n\n".join("".join(blocks) for blocks in self.blocks.values())


class StreamJson:
    """The driver. One object a process."""

    def __init__(self, setup: DriverSetup) -> None:
        self._setup = setup
        self._session_id = ""
        self._resumed = False
        self._ready = False
        self._requests = 0
        self._version = ""
        self._awaited = ""  # the request whose answer makes it ready, or goes before one that does
        self._steps: list[Json] = []  # those behind it
        self._interrupts: set[str] = set()
        self._lifecycle = False  # the CLI tells which message it works on
        self._turn: _Turn | None = None
        self._works = False  # the CLI is in a turn, whoever asked for it
        self._tasks = False  # it has sub-agents or commands in the background
        self._told = Background(works=False)
        self._aside: list[str] = []  # what it says in a turn that nobody asked for
        self._reset = False  # the CLI began a new conversation in this turn
        self._preserved: set[str] = set()  # lines that a compaction says once more
        self._streaming = ""  # id of the message whose deltas come in
        self._used_tokens: int | None = None
        self._asks = Asks(auto_allow=setup.permissions == "bypass")
        self._handlers: dict[str, Callable[[Json], list[Output]]] = {
            "system": self._system,
            "stream_event": self._stream_event,
            "assistant": self._assistant,
            "user": self._user,
            "result": self._result,
            "command_lifecycle": self._command_lifecycle,
            "control_request": self._control_request,
            "control_response": self._control_response,
            "control_cancel_request": lambda msg: self._asks.withdraw(text(msg.get("request_id"))),
            "conversation_reset": self._conversation_reset,
            "rate_limit_event": self._rate_limit,
        }

    # What the Session calls

    @property
    def native_id(self) -> str:
        return self._session_id

    def start(self, resume: str) -> Outputs:
        self._session_id, self._resumed = resume, bool(resume)
        # Answered 0.3 s after the start without any message of a person: the only sign of readiness there is.
        self._steps = [{"subtype": "initialize"}]
        return self._step()

    def set_model(self, model: str, effort: str) -> Outputs:
        steps: list[Json] = [{"subtype": "set_model", "model": model}] if model else []
        steps += [{"subtype": "apply_flag_settings", "settings": {"effortLevel": effort}}] if effort else []
        self._steps = [*steps, {"subtype": "get_settings"}]
        return self._step()

    def _step(self) -> list[Output]:
        request = self._control(self._steps.pop(0))
        self._awaited = f"kai-{self._requests}"
        return [request]

    def frame(self, prompt: Prompt) -> bytes:
        return prompt_frame(prompt)

    def prompt(self, prompt: Prompt) -> Outputs:
        self._turn = _Turn(str(dispatch_uuid(prompt.dispatch)))
        return [Send(prompt_frame(prompt))]

    def steer(self, prompt: Prompt) -> Outputs:
        return [Steered(prompt.dispatch, taken=False)]  # nothing of the kind is known of this protocol

    def answer(self, ask: str, choice: Any, text: str = "") -> Outputs:
        return self._asks.answer(ask, choice, text)

    def interrupt(self) -> Outputs:
        if self._turn is None:
            return []
        self._turn.stopping = True
        request = self._control({"subtype": "interrupt"})
        self._interrupts.add(f"kai-{self._requests}")
        return [request]

    def feed(self, line: bytes) -> Outputs:
        if not line.strip():
            return []
        msg = parse(line)
        if not isinstance(msg, dict):
            return [Skipped("a line that is no JSON object")]
        kind = text(msg.get("type"))
        if handler := self._handlers.get(kind):
            return [*handler(msg), *self._background()]
        return [] if kind in _QUIET else [Skipped(f"type {kind[:40]!r}")]

    def wake(self, name: str) -> Outputs:
        return []

    def eof(self, exit_code: int | None, stderr_tail: str) -> Outputs:
        failed = classify(Evidence(ended=True, exit_code=exit_code, stderr=stderr_tail))
        if not self._ready:
            return [Lost.of(at_start(failed))]
        if self._turn is None:
            return self._flush_aside()
        return self._end(Finished(stopped=True) if self._turn.stopping else failed)

    # Lines from the CLI

    @property
    def _ours(self) -> _Turn | None:
        """Our turn, when what the CLI says now belongs to it."""
        turn = self._turn
        return turn if turn is not None and (turn.begun or not self._lifecycle) else None

    def _system(self, msg: Json) -> list[Output]:
        match text(msg.get("subtype")):
            case "init":
                return self._init(msg)
            case "compact_boundary":
                kept = record(record(msg.get("compact_metadata")).get("preserved_messages"))
                self._preserved = {text(uuid) for uuid in items(kept.get("all_uuids"))} - {""}
                return [Compacted()]
            case "api_retry":
                return self._retry(msg)
            case "background_tasks_changed":
                self._tasks = bool(items(msg.get("tasks")))
                return []
            case subtype if subtype in _QUIET_SYSTEM:
                return []
            case subtype:
                return [Skipped(f"system {subtype[:40]!r}")]

    def _background(self) -> list[Output]:
        before, self._told = self._told, Background(works=self._tasks or (self._works and self._ours is None))
        return [] if self._told == before else [self._told]

    def _init(self, msg: Json) -> list[Output]:
        """Comes at the beginning of every turn of the CLI, also of those that nobody asked for."""
        self._works = True
        self._session_id = text(msg.get("session_id")) or self._session_id
        self._lifecycle |= "msg_lifecycle_v1" in items(msg.get("capabilities"))
        if self._turn is not None and self._turn.uuid in items(msg.get("user_message_uuids")):
            self._turn.begun = True
        if self._ours is None:
            return []
        started = Started(self._session_id, text(msg.get("model")), text(msg.get("claude_code_version")))
        reset, self._reset = self._reset, False
        return [started, Compacted()] if reset else [started]

    def _conversation_reset(self, _: Json) -> list[Output]:
        """The session gets another id, which the next ``init`` tells; nothing that it was shown is in it any more."""
        self._reset = True
        return []

    def _retry(self, msg: Json) -> list[Output]:
        if (turn := self._ours) is None:
            return []
        turn.retried = True
        cause = text(msg.get("error")) or "no answer"
        status = integer(msg.get("error_status"))
        tries = f"try {integer(msg.get('attempt')) or '?'} of {integer(msg.get('max_retries')) or '?'}"
        return [Limit(f"The provider did not answer ({status or cause}); {tries}.")]

    def _rate_limit(self, msg: Json) -> list[Output]:
        info = record(msg.get("rate_limit_info"))
        if (turn := self._ours) is None or text(info.get("status")) != "rejected":
            return []
        turn.resets_at = amount(info.get("resetsAt"))
        return [Limit("The provider's usage limit is reached.", moment(turn.resets_at))]

    def _stream_event(self, msg: Json) -> list[Output]:
        if msg.get("parent_tool_use_id") is not None:
            return []  # a sub-agent's words are not the answer
        event = record(msg.get("event"))
        delta = record(event.get("delta"))
        match text(event.get("type")), text(delta.get("type")):
            case "message_start", _:
                message = record(event.get("message"))
                self._streaming = text(message.get("id"))
                self._note_usage(message)
            case "content_block_delta", "text_delta":
                said = text(delta.get("text"))
                if turn := self._ours:
                    turn.streamed.add(self._streaming)
                    return turn.say(self._streaming, said)
            case "content_block_delta", "thinking_delta":
                return [Thinking(text(delta.get("thinking")))] if self._ours else []
        return []

    def _assistant(self, msg: Json) -> list[Output]:
        """One content block as it is complete; the same message id comes once for each."""
        if msg.get("parent_tool_use_id") is not None or text(msg.get("uuid")) in self._preserved:
            return []
        message = record(msg.get("message"))
        self._note_usage(message)
        if msg.get("error") or msg.get("is_api_error_message"):
            if turn := self._ours:
                turn.error_code, turn.error_text = text(msg.get("error")), content_text(message.get("content"))
            return []
        out: list[Output] = []
        for block in items(message.get("content")):
            out += self._block(text(message.get("id")), record(block))
        return out

    def _block(self, message: str, block: Json) -> list[Output]:
        kind = text(block.get("type"))
        turn = self._ours
        if kind == "text":
            said = text(block.get("text"))
            if turn is None:
                self._aside.append(said)
                return [] if self._works else self._flush_aside()
            turn.blocks.setdefault(message, []).append(said)
            return [] if message in turn.streamed else turn.say(message, said)
        if turn is not None and kind.endswith("tool_use") and (tool_id := text(block.get("id"))):
            turn.tools = True
            self._asks.note_call(tool_id, block.get("input"))
            return [ToolCall(tool_id, text(block.get("name")) or "tool", target_of(block.get("input")))]
        return _tool_result(block) if turn is not None else []

    def _user(self, msg: Json) -> list[Output]:
        """Tool results. Whatever else comes as a user line was typed by nobody."""
        if self._ours is None or msg.get("parent_tool_use_id") is not None:
            return []
        out: list[Output] = []
        for block in items(record(msg.get("message")).get("content")):
            out += _tool_result(record(block))
        return out

    def _command_lifecycle(self, msg: Json) -> list[Output]:
        self._lifecycle = True
        turn, state = self._turn, text(msg.get("state"))
        if turn is None or text(msg.get("command_uuid")) != turn.uuid:
            return []
        if state == "started":
            turn.begun = True
            return list(self.interrupt()) if turn.stop_when_begun else []
        if state in ("completed", "cancelled", "discarded") and not turn.begun:
            # The CLI drops a message that it has had before, without a result.
            why = (
                Finished(stopped=True) if turn.stopping else of_kind(FailureKind.PROTOCOL, "it took the message as old")
            )
            return self._end(why)
        return []

    def _control_request(self, msg: Json) -> list[Output]:
        request_id, request = text(msg.get("request_id")), record(msg.get("request"))
        if text(request.get("subtype")) != "can_use_tool":
            refusal = {"subtype": "error", "request_id": request_id, "error": "not supported by this client"}
            return [Send(line_of({"type": "control_response", "response": refusal}))]
        return self._asks.ask(request_id, request, anyone_there=self._ours is not None)

    def _control_response(self, msg: Json) -> list[Output]:
        response = record(msg.get("response"))
        request_id, answer = text(response.get("request_id")), record(response.get("response"))
        if request_id in self._interrupts:
            self._interrupts.remove(request_id)
            if self._turn is not None and self._turn.uuid in items(answer.get("still_queued")):
                self._turn.stop_when_begun = True  # it waits behind another turn and would run next
            return []
        if request_id != self._awaited:
            return []
        self._awaited = ""
        if text(response.get("subtype")) != "success":
            kind = FailureKind.PROTOCOL if self._ready else FailureKind.OLD
            return [Lost(of_kind(kind).sentence, kind, text(response.get("error")))]
        if self._steps:
            return self._step()
        self._ready = True
        self._version = text(answer.get("claude_code_version")) or self._version
        model = text(record(answer.get("applied")).get("model")) or self._setup.model
        return [Ready(self._session_id, self._resumed, self._version, model)]

    # Ends of turns

    def _result(self, msg: Json) -> list[Output]:
        errors = "\n".join(text(error) for error in items(msg.get("errors")))
        if not self._ready:
            return [Lost.of(at_start(classify(Evidence(text=errors or text(msg.get("result"))))))]
        self._works = False
        turn = self._turn
        if turn is None or not self._is_ours(turn, msg):
            if not self._aside and not msg.get("is_error"):
                self._aside.append(text(msg.get("result")))
            return self._flush_aside()
        end = self._judge(turn, msg, errors)
        if isinstance(end, Finished) and not end.stopped:
            self._resumed = False  # from here on this session is known to work
        usage = self._usage(msg)
        return [*([usage] if usage != Usage() else []), *self._end(end)]

    def _is_ours(self, turn: _Turn, msg: Json) -> bool:
        if uuids := items(msg.get("user_message_uuids")):
            return turn.uuid in uuids
        if record(msg.get("origin")).get("kind") not in (None, "human"):
            return False
        return self._ours is not None

    def _judge(self, turn: _Turn, msg: Json, errors: str) -> Finished | Failed:
        """What the result of our turn came to: never from its ``subtype`` alone."""
        aborted = text(msg.get("terminal_reason")).startswith("aborted") or _INTERRUPTED in errors
        if aborted or (turn.stopping and msg.get("is_error")):
            return Finished(stopped=True)
        said = text(msg.get("result"))
        if msg.get("is_error") or text(msg.get("subtype")) != "success":
            return self._failure(turn, msg, errors or said or turn.error_text or text(msg.get("subtype")))
        counted = turn.counted
        if counted:
            return Finished(text="" if counted == "".join(turn.said) else counted)
        if said or turn.tools or msg.get("local_command"):
            return Finished(text=said)
        if self._resumed and not integer(msg.get("num_turns")):
            return of_kind(FailureKind.RESUME, "it ended at once, without a turn", session_lost=True)
        if turn.retried or turn.said:
            return of_kind(FailureKind.PROVIDER, "its answer broke off")
        return of_kind(FailureKind.EMPTY)

    def _failure(self, turn: _Turn, msg: Json, said: str) -> Failed:
        code = turn.error_code or text(msg.get("api_error"))
        failed = classify(Evidence(text=said, status=integer(msg.get("api_error_status")), code=code))
        # What was too much stays in the transcript and fails every later turn; an unknown id stays unknown.
        lost = failed.kind in (FailureKind.CONTEXT, FailureKind.RESUME)
        resets_at = failed.resets_at or moment(turn.resets_at)
        return Failed(failed.kind, failed.sentence, failed.detail, resets_at, session_lost=lost)

    def _end(self, end: Finished | Failed) -> list[Output]:
        self._turn = None
        return [*self._flush_aside(), *self._asks.forget(), end]

    def _flush_aside(self) -> list[Output]:
        said = "\n\n".join(part for part in self._aside if part)
        self._aside.clear()
        return [Unsolicited(said)] if said.strip() else []

    def _note_usage(self, message: Json) -> None:
        usage = record(message.get("usage"))
        used = [integer(usage.get(name)) for name in ("input_tokens", *_CACHED)]
        self._used_tokens = sum(n for n in used if n) or self._used_tokens

    def _usage(self, msg: Json) -> Usage:
        """Of this turn: ``total_cost_usd`` and ``modelUsage`` count over the session and across resumes."""
        models = [record(model) for model in record(msg.get("model_usage_since_last_result")).values()]
        usage = record(msg.get("usage"))
        if not models:
            return Usage(integer(usage.get("input_tokens")) or None, integer(usage.get("output_tokens")) or None)
        fresh = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        return Usage(
            input_tokens=sum(integer(model.get(name)) or 0 for model in models for name in fresh),
            output_tokens=sum(integer(model.get("outputTokens")) or 0 for model in models),
            cost_usd=sum(amount(model.get("costUSD")) or 0.0 for model in models),
            window_tokens=max(integer(model.get("contextWindow")) or 0 for model in models) or None,
            used_tokens=self._used_tokens,
        )

    def _control(self, request: Json) -> Send:
        self._requests += 1
        return Send(line_of({"type": "control_request", "request_id": f"kai-{self._requests}", "request": request}))


_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")


def _tool_result(block: Json) -> list[Output]:
    tool_id = text(block.get("tool_use_id"))
    if not tool_id or not text(block.get("type")).endswith("tool_result"):
        return []
    return [ToolResult(tool_id, not block.get("is_error"), content_text(block.get("content")))]
