"""Replays a recorded session of a real CLI through a fresh driver, and writes what came of it as a person reads it.

A recording has a JSON object a line: ``dir`` is ``in`` (to the CLI), ``out`` (from it), ``err``, ``note`` or ``call``
(of the driver itself, where it was driven by one). What goes in was written by another client in most of them: every
prompt, answer and interrupt is put to the driver as the call that it stands for, and the ids of its frames are put in
place of the recorded ones.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, assert_never

from kai.model.backends import Limits, ProtocolName
from kai.model.context import Prompt
from kai.model.events import (
    Ask,
    AskWithdrawn,
    BackendEvent,
    Choice,
    ChoiceKind,
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
from kai.protocols.driver import Background, Driver, Lost, Outputs, Ready, Send, Skipped, Wake
from kai.protocols.registry import driver_for
from kai.protocols.turn import Turn
from tests.protocols.agents import setup

FOLDER = Path(__file__).parents[1] / "transcripts"
PROTOCOL = {  # of a folder; every other is an ACP agent
    "claude": ProtocolName.STREAM_JSON,
    "codex": ProtocolName.APP_SERVER,
    "pi": ProtocolName.PI_RPC,
}
QUIRKS = {"copilot": ("tells_notices",), "hermes": ("stop_spoils", "takes_up_anything")}
OPTIONS = {"gemini": {"auth_method": "gemini-api-key"}}


def recordings() -> list[Path]:
    return sorted(FOLDER.glob("*/*.jsonl"))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            yield json.loads(line)


@dataclass
class Replay:
    """One pass of a recording through `driver`. `story` is what a person would read."""

    driver: Driver
    protocol: ProtocolName
    story: list[str] = field(default_factory=list)
    ids: dict[str, Any] = field(default_factory=dict)  # recorded id, as JSON → the driver's
    sent: list[Any] = field(default_factory=list)
    unmatched: list[Any] = field(default_factory=list)  # requests of the driver that no recorded line stands for yet
    asks: dict[str, Ask] = field(default_factory=dict)  # recorded request id, as JSON → question
    turn: Turn | None = None
    prompts: int = 0
    said: str = ""
    driven: bool = False  # recorded with this very driver: its ids are in the recording

    def run(self, path: Path) -> list[str]:
        found = list(lines(path))
        driven = self.driven = any(one["dir"] == "call" for one in found)
        first: Any = next((one["msg"] for one in found if one["dir"] == "in" and isinstance(one.get("msg"), dict)), {})
        for one in found:
            match one["dir"]:
                case "call":
                    self.call(one["call"])
                case "in" if not driven:
                    self.put_in(one.get("msg"), first)
                case "out":
                    self.feed(one["msg"])
        return self.story

    # What the recording stands for

    def call(self, call: dict[str, Any]) -> None:
        match call["call"]:
            case "start":
                self.take(self.driver.start(call["resume"]))
            case "prompt":
                self.prompt(DispatchId(call["dispatch"]), call["text"])
            case "answer":
                chosen = call["choice"]
                choice = Choice(chosen[0], chosen[1], ChoiceKind(chosen[2])) if chosen else None
                self.answered(call["ask"], choice, call["text"])
            case "interrupt":
                self.take(self.driver.interrupt())
            case "eof":
                self.take(self.driver.eof(call["exit_code"], call["stderr_tail"]))

    def put_in(self, msg: Any, first: Any) -> None:
        if not isinstance(msg, dict):
            return  # noise that the recording client wrote on purpose
        if msg is first:
            resume = self.resumed()
            self.take(self.driver.start(resume))
            if self.protocol is ProtocolName.STREAM_JSON:
                answer = {"subtype": "success", "request_id": "kai-1", "response": {}}
                self.feed({"type": "control_response", "response": answer})
        if self.protocol is ProtocolName.PI_RPC:
            self.put_in_pi_rpc(msg, msg is first)
        elif self.protocol is ProtocolName.STREAM_JSON:
            self.put_in_stream_json(msg)
        elif self.protocol is ProtocolName.APP_SERVER:
            self.put_in_app_server(msg)
        else:
            self.put_in_acp(msg)

    def resumed(self) -> str:
        return ""

    def put_in_stream_json(self, msg: dict[str, Any]) -> None:
        if msg["type"] == "user":
            self.prompts += 1
            self.prompt(DispatchId(f"d-{self.prompts}"), str(msg["message"]["content"]))
            if "uuid" in msg:
                self.ids[json.dumps(msg["uuid"])] = self.sent[-1]["uuid"]
        elif msg["type"] == "control_request" and msg["request"]["subtype"] == "interrupt":
            self.take(self.driver.interrupt())
            self.ids[json.dumps(msg["request_id"])] = self.sent[-1]["request_id"]
        elif msg["type"] == "control_response":
            response = msg["response"]
            behaviour = response.get("response", {}).get("behavior", "deny")
            self.answer(json.dumps(response["request_id"]), behaviour == "allow")

    def put_in_pi_rpc(self, msg: dict[str, Any], is_first: bool) -> None:
        mine: Any = None
        match msg["type"]:
            case kind if is_first:
                self.feed({"type": "response", "id": "kai-1", "success": True})
                mine = "kai-2" if kind == "get_state" else None
                if mine is None:
                    state = {"model": {"id": "m", "provider": "p"}, "sessionId": "s", "messageCount": 2}
                    self.feed({"type": "response", "id": "kai-2", "success": True, "data": state})
                    self.put_in_pi_rpc(msg, False)
                    return
            case "prompt" if self.turn is None:
                self.prompts += 1
                self.prompt(DispatchId(f"d-{self.prompts}"), str(msg["message"]))
                mine = self.sent[-1]["id"]
            case "abort":
                self.take(self.driver.interrupt())
                mine = self.sent[-1]["id"]
            case "extension_ui_response" if ask := self.asks.pop(json.dumps(msg["id"]), None):
                said = str(msg.get("value", "yes" if msg.get("confirmed") else ""))
                kinds = {"yes": ChoiceKind.ALLOW_ONCE, "once": ChoiceKind.ALLOW_ONCE, "always": ChoiceKind.ALLOW_ALWAYS}
                choice = next((one for one in ask.choices if one.label == said or one.kind is kinds.get(said)), None)
                self.answered(ask.ask, choice, said if ask.free_text else "")
        if mine is not None:
            self.ids[json.dumps(msg["id"])] = mine

    def put_in_acp(self, msg: dict[str, Any]) -> None:
        method = msg.get("method")
        if method == "session/prompt":
            if self.turn is not None or msg["params"]["sessionId"] == "nope":
                return  # it tried what a driver never does
            self.prompts += 1
            self.prompt(DispatchId(f"d-{self.prompts}"), msg["params"]["prompt"][-1]["text"])
            self.ids[json.dumps(msg["id"])] = self.sent[-1]["id"]
        elif method == "session/cancel":
            self.take(self.driver.interrupt())
        elif method is None:
            outcome = (msg.get("result") or {}).get("outcome", {})
            option = outcome.get("optionId", "reject")
            self.answer(json.dumps(msg["id"]), not option.startswith(("reject", "cancel")), option)
        else:
            self.map(msg["id"], method)

    def put_in_app_server(self, msg: dict[str, Any]) -> None:
        match msg.get("method"):
            case "turn/start":
                if (
                    self.turn is None and msg["params"]["threadId"] == self.driver.native_id
                ):  # else a driver never does it
                    self.prompts += 1
                    self.prompt(DispatchId(f"d-{self.prompts}"), msg["params"]["input"][-1]["text"])
                    self.ids[json.dumps(msg["id"])] = self.sent[-1]["id"]
            case "turn/interrupt":
                self.take(self.driver.interrupt())
                self.ids[json.dumps(msg["id"])] = self.sent[-1]["id"]
            case None:
                told = msg.get("result") or {}
                chosen = "".join(said for one in (told.get("answers") or {}).values() for said in one["answers"])
                decision = str(told.get("decision", "decline"))
                self.answer(json.dumps(msg["id"]), bool(chosen) or decision.startswith("accept"), decision, chosen)
            case method:
                self.map(msg["id"], method) if "id" in msg else None

    def map(self, recorded: Any, method: Any) -> None:
        """A recorded request stands for the driver's own of the same method."""
        mine = next((one for one in self.unmatched if one.get("method") == method), None)
        if mine is not None:
            self.unmatched.remove(mine)
            self.ids[json.dumps(recorded)] = mine["id"]

    def answer(self, request: str, allow: bool, option: str = "", words: str = "") -> None:
        ask = self.asks.pop(request, None)
        if ask is None:
            return
        wanted = {ChoiceKind.ALLOW_ONCE, ChoiceKind.ANSWER} if allow else {ChoiceKind.REJECT_ONCE}
        if "always" in option or option == "acceptForSession":
            wanted = {ChoiceKind.ALLOW_ALWAYS}
        choice = next((one for one in ask.choices if one.kind in wanted and words in one.label), None)
        self.answered(ask.ask, choice)

    def answered(self, ask: str, choice: Choice | None, text: str = "") -> None:
        self.story.append(f"  answered: {choice.label if choice else text or 'denied'}")
        if self.turn is not None:
            self.turn.answered(ask)
        self.take(self.driver.answer(ask, choice, text))

    def prompt(self, dispatch: DispatchId, text: str) -> None:
        self.turn = Turn(Limits(), self.driver.native_id)
        self.story.append(f"> {text[:100]}")
        self.take(self.driver.prompt(Prompt(dispatch, text)))

    # What the driver makes of it

    def feed(self, msg: Any) -> None:
        self.last = msg
        self.take(self.driver.feed(json.dumps(self.translate(msg)).encode()))
        asked = next((one for one in self.unmatched if one["method"] == "account/read"), None)
        if asked and not self.driven:
            self.unmatched.remove(asked)  # the recording clients did not
            self.take(self.driver.feed(json.dumps({"id": asked["id"], "result": {}}).encode()))

    def translate(self, msg: Any) -> Any:
        """The ids of the driver's own frames in place of the recorded ones."""
        if not isinstance(msg, dict):
            return msg
        if self.protocol is not ProtocolName.STREAM_JSON:
            mine = self.ids.get(json.dumps(msg.get("id"))) if "method" not in msg and "id" in msg else None
            if mine is not None and isinstance(msg.get("result"), dict) and "approvalPolicy" in msg["result"]:
                # The recording clients asked for other permissions than kai does.
                msg = {
                    **msg,
                    "result": {**msg["result"], "approvalPolicy": "on-request", "sandbox": {"type": "readOnly"}},
                }
            return {**msg, "id": mine} if mine is not None else msg
        if msg.get("subtype") == "init" and not self.ids and "user_message_uuids" not in msg:
            # The client sent no uuids, so that the CLI could not tell whose turn it is: as an older one.
            msg = {**msg, "capabilities": []}
        text = json.dumps(msg)
        for recorded, mine in self.ids.items():
            text = text.replace(recorded, json.dumps(mine))
        return json.loads(text)

    def take(self, outputs: Outputs) -> None:  # noqa: C901, PLR0912 - one line a kind
        for output in outputs:
            match output:
                case Send(frame):
                    assert frame.endswith(b"\n")
                    assert frame.count(b"\n") == 1
                    self.sent.append(json.loads(frame))
                    if "id" in self.sent[-1] and "method" in self.sent[-1]:
                        self.unmatched.append(self.sent[-1])
                case Ready(native_id, resumed, version, model):
                    self.story.append(
                        f"ready: resumed={resumed} version={version!r} model={model!r} id={bool(native_id)}"
                    )
                case Lost(reason, kind):
                    self.story.append(f"lost: {kind.value}: {reason}")
                case Wake(after_s) if after_s > 5:
                    pass  # no recording is that slow
                case Wake():
                    self.take(self.driver.wake(output.name))
                case Skipped(what):
                    self.story.append(f"skipped: {what}")
                case Background(works):
                    self.story.append("works in the background" if works else "works no more in the background")
                case Unsolicited(text):
                    self.story.append(f"unsolicited: {text[:200]!r}")
                case _ if self.turn is None:
                    self.story.append(f"outside a turn: {type(output).__name__}")
                case _:
                    if isinstance(output, Ask):
                        self.asks[json.dumps(self.last.get("request_id", self.last.get("id")))] = output
                    for event in self.turn.take(output):
                        self.tell(event)

    def tell(self, event: BackendEvent) -> None:  # noqa: C901, PLR0912 - one line a kind
        if self.said and not isinstance(event, TextDelta):
            self.story.append(f"  text: {self.said[:300]!r}")
            self.said = ""
        match event:
            case TextDelta(text):
                self.said += text
            case Started(native_id, model, version):
                self.story.append(f"  started: id={bool(native_id)} model={model!r} version={version!r}")
            case Thinking(text):
                self.story.append(f"  thinking: {text!r}")
            case ToolCall(tool_id, name, target):
                self.story.append(f"  tool {tool_id[-6:]}: {name} {target!r}")
            case ToolResult(tool_id, ok, detail):
                self.story.append(f"  tool {tool_id[-6:]} {'ok' if ok else 'failed'}: {detail[:80]!r}")
            case Ask(_, title, detail, choices, _, free_text):
                kinds = ", ".join(f"{choice.label} [{choice.kind.value}]" for choice in choices)
                self.story.append(f"  asks: {title!r} {detail!r} {kinds}{' or own words' if free_text else ''}")
            case AskWithdrawn():
                self.story.append("  asks no more")
            case Usage():
                facts = (event.input_tokens, event.output_tokens, event.window_tokens, event.used_tokens)
                self.story.append(f"  usage: {facts} {event.cost_usd and round(event.cost_usd, 6)}")
            case Compacted():
                self.story.append("  compacted")
            case Limit(reason, resets_at):
                self.story.append(f"  limit: {reason} {resets_at or ''}".rstrip())
            case Steered(dispatch, taken):
                self.story.append(f"  steered {dispatch}: {'taken' if taken else 'not taken'}")
            case Unsolicited(text):
                self.story.append(f"  unsolicited: {text!r}")
            case Finished(stopped, text):
                self.story.append(f"  {'stopped' if stopped else 'finished'}{f': {text[:200]!r}' if text else ''}")
                self.turn = None
            case Failed(kind, sentence, _, _, session_lost):
                self.story.append(f"  failed: {kind.value}: {sentence}{' (session lost)' if session_lost else ''}")
                self.turn = None
            case _:
                assert_never(event)


def replayed(path: Path) -> Replay:
    """The recording at `path`, driven to its end."""
    backend = path.parent.name
    protocol = PROTOCOL.get(backend, ProtocolName.ACP)
    made = setup(protocol, "/cwd")
    options = tuple(OPTIONS.get(backend, {}).items())
    made = replace(made, manifest=replace(made.manifest, options=options, quirks=QUIRKS.get(backend, ())))
    if protocol is ProtocolName.PI_RPC:
        made = replace(made, permissions="bypass")  # most were recorded without kai's gate
    driver = driver_for(made)
    takes_up = "load" in path.name or "resume" in path.name
    replay = _Resumed(driver, protocol, path=path) if takes_up else Replay(driver, protocol)
    replay.run(path)
    return replay


@dataclass
class _Resumed(Replay):
    """A recording that begins with taking up a session."""

    path: Path = Path()

    def resumed(self) -> str:
        for one in lines(self.path):
            msg = one.get("msg")
            if isinstance(msg, dict) and msg.get("method") in ("session/load", "session/resume", "thread/resume"):
                return str(msg["params"].get("sessionId") or msg["params"]["threadId"])
            argv = one.get("argv") or []
            if "--resume" in argv:
                return str(argv[argv.index("--resume") + 1])
        return "a-session"
