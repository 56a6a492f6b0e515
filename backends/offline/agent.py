"""The offline agent: an ACP (version 1) agent without a language model, bundled with kai.

It answers from what its prompt contains and says what it is. Standard library only: ``python -I -S agent.py``.
"""

import json
import os
import re
import select
import signal
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

VERSION = "1.0.0"
MARKER = "[User's current message - respond to this:]"
MAX_LINE_BYTES = 16 * 1024 * 1024
PIECE_CHARS = 48
PAUSE_S = 0.2  # between the pieces of `slow`

INTRODUCTION = "I am the offline agent of kai: a small program without a language model.\n\n"
UNABLE = "Your message reached me, but without a language model I cannot answer it.\n"
HELP = """What I can do:
- sections: list the parts of the context that I received, with their sizes
- show NAME: print one of them
- history: quote the earlier conversation that I was given
- preferences: quote the preferences that I was given
- count [TEXT]: count the words and characters of a text, or of all that I received
- echo TEXT: say it back
- slow N: stream N pieces, to try /stop
- ask: ask for a permission and tell what was answered
- help: this list"""

# How kai's sections begin, and their names. Between the lines `<<ID …` and `ID>>` stands quoted text.
HEADINGS = {
    "[Workspace: ": "reminder",
    "[Corrections": "corrections",
    "[Background from memory": "memory",
    "[Memory search": "memory",
    "[Your core identity": "session.identity",
    "[Memory subsystem": "session.memory",
    "[Your personal preferences": "session.preferences",
    "[Your persistent memory": "session.memory_file",
    "## Workspace Instructions": "session.workspace",
    "[Recent ": "session.history",
    "[No earlier messages": "session.history",
    "[Scheduling API": "session.tools",
    "[External services": "session.tools",
    "[Skills again": "session.skills",
    "[Agent: ": "agent",
    "[Now: ": "now",
    "[About this message": "about",
}
Answer = Generator["Step", str, None]


@dataclass
class Step:
    """One step of an answer: a text, a pause, or a question, to which the id of the chosen option is sent back."""

    text: str = ""
    pause_s: float = 0.0
    question: str = ""


@dataclass
class Session:
    """What one session was given so far."""

    sections: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)


@dataclass
class Turn:
    """A running prompt. `request` is the id to answer, `waiting` the id of our own open request."""

    session: str
    request: Any
    answer: Answer
    due: float = 0.0
    waiting: str = ""
    chosen: str = ""


def read_prompt(text: str) -> tuple[dict[str, str], str]:
    """The sections before the marker, by name, and the words behind it: a later marker is part of the words."""
    lines = text.split("\n")
    if MARKER not in lines:
        return {}, text
    at = lines.index(MARKER)
    sections: dict[str, str] = {}
    name, fence = "other", ""
    for line in lines[:at]:
        if fence:
            fence = "" if line == fence else fence
        elif opening := re.match(r"<<(\S+)", line):
            fence = opening[1] + ">>"
        else:
            name = next((known for start, known in HEADINGS.items() if line.startswith(start)), name)
        sections[name] = sections[name] + "\n" + line if name in sections else line
    return {name: part.rstrip("\n") for name, part in sections.items()}, "\n".join(lines[at + 1 :])


def reply(session: Session, prompt: str) -> Answer:
    """The answer to one prompt, step by step."""
    received, words = read_prompt(prompt)
    session.sections.update(received)
    session.said.append(words)
    if len(session.said) == 1:
        yield Step(INTRODUCTION)
    command, rest = re.fullmatch(r"\s*(\S*)\s?(.*)", words, re.DOTALL).groups()  # type: ignore[union-attr]
    match command.casefold(), rest.strip():
        case "slow", number:
            yield from slowly(number)
        case "ask", "":
            told = {"yes": "You allowed it. I did nothing all the same.", "no": "You refused it."}
            yield Step(told.get((yield Step(question="May I pretend?")), "The question was closed without an answer."))
        case "echo", _:
            yield Step(rest or "(nothing)")
        case "count", text:
            yield Step(counted(text) if text else f"{counted(prompt)} {len(received)} sections.")
        case known, argument:
            yield Step(looked_up(session, received, known, argument) or UNABLE + HELP)


def looked_up(session: Session, received: dict[str, str], command: str, argument: str) -> str:
    """What a command quotes from what was received; empty when it is no command."""
    if command == "show":
        wanted = argument.casefold()
        names = [name for name in session.sections if wanted in (name, name.removeprefix("session."))]
        missing = f"I received no section {argument!r}. There are: {', '.join(session.sections) or 'none'}."
        return session.sections[names[0]] if names else missing
    asks = command == "what" and re.match(r"did i (say|write|tell)", argument, re.IGNORECASE)
    if asks or (command == "history" and not argument):
        said = "".join(f"\n- {words}" for words in session.said[:-1])
        earlier = f"\nIn this session you said:{said}" if said else ""
        return quoted(session, "session.history", "earlier conversation") + earlier
    if command == "preferences" and not argument:
        return quoted(session, "session.preferences", "preferences")
    if command == "sections" and not argument:
        lines = [f"- {name}: {len(part.encode(errors='replace'))} bytes" for name, part in received.items()]
        before = [name for name in session.sections if name not in received]
        lines += [f"Earlier in this session: {', '.join(before)}."] if before else []
        return "\n".join([f"This message came with {len(received)} sections.", *lines])
    return HELP if command == "help" else ""


def quoted(session: Session, name: str, what: str) -> str:
    part = session.sections.get(name)
    return f"The {what} that I was given:\n{part}" if part else f"I was given no {what}."


def counted(text: str) -> str:
    return f"{len(text.split())} words, {len(text)} characters, {len(text.encode(errors='replace'))} bytes."


def slowly(number: str) -> Answer:
    if not re.fullmatch(r"[1-9][0-9]{0,3}", number):
        yield Step("Tell me how many pieces, 1 to 9999, as in: slow 20")
        return
    for each in range(int(number)):
        yield Step(f"piece {each + 1} of {number}\n")
        yield Step(pause_s=PAUSE_S)


class Agent:
    """The protocol: one loop over stdin and the steps of the running answers."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.turns: list[Turn] = []
        self.asked = 0

    def run(self) -> None:
        """Serve until stdin ends."""
        buffer, is_skipping = b"", False
        while True:
            due = [turn.due for turn in self.turns if not turn.waiting]
            if select.select([0], [], [], max(0.0, min(due) - time.monotonic()) if due else None)[0]:
                data = os.read(0, 1 << 20)
                if not data:
                    return
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    if not is_skipping and line.strip():
                        self.receive(line)
                    is_skipping = False
                if len(buffer) > MAX_LINE_BYTES:
                    buffer, is_skipping = b"", True
            for turn in [turn for turn in self.turns if not turn.waiting and turn.due <= time.monotonic()]:
                self.step(turn)

    def receive(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            method, parameters, request = message.get("method"), message.get("params") or {}, message.get("id")
            session = parameters.get("sessionId")
        except (ValueError, RecursionError, AttributeError):
            send(id=None, error={"code": -32700, "message": "this line is no JSON-RPC message"})
            return
        if method is None:
            self.answered(request, message.get("result"))
        elif method == "session/cancel":
            for turn in [turn for turn in self.turns if turn.session == session]:
                self.end(turn, "cancelled")
        elif "id" in message:
            try:
                self.call(method, request, session, parameters)
            except (LookupError, ValueError) as error:
                code = -32601 if isinstance(error, LookupError) else -32602
                send(id=request, error={"code": code, "message": str(error)})

    def call(self, method: Any, request: Any, session: Any, parameters: dict[str, Any]) -> None:
        """Answer a request, now or (a prompt) later. `LookupError`: unknown method; `ValueError`: bad parameters."""
        if method == "initialize":
            info = {"name": "kai-offline", "title": "kai offline agent", "version": VERSION}
            result = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info, "authMethods": []}
            send(id=request, result=result)
        elif method == "session/new":
            if not str(parameters.get("cwd")).startswith("/"):
                raise ValueError("cwd must be an absolute path")
            name = f"offline-{os.getpid()}-{len(self.sessions) + 1}"
            self.sessions[name] = Session()
            send(id=request, result={"sessionId": name})
        elif method == "session/prompt":
            blocks = parameters.get("prompt")
            if not isinstance(session, str) or session not in self.sessions or not isinstance(blocks, list):
                raise ValueError("a known sessionId and a prompt, a list of blocks, are needed")
            if any(turn.session == session for turn in self.turns):
                raise ValueError("a prompt is running in this session")
            text = "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))
            self.turns.append(Turn(session, request, reply(self.sessions[session], text)))
        else:
            raise LookupError(f"there is no method {method}")

    def step(self, turn: Turn) -> None:
        """Do the next step of an answer."""
        try:
            step = turn.answer.send(turn.chosen) if turn.chosen else next(turn.answer)
        except StopIteration:
            self.end(turn, "end_turn")
            return
        turn.due, turn.chosen = time.monotonic() + step.pause_s, ""
        for start in range(0, len(step.text), PIECE_CHARS):
            content = {"type": "text", "text": step.text[start : start + PIECE_CHARS]}
            update(turn, sessionUpdate="agent_message_chunk", content=content)
        if step.question:
            self.asked += 1
            turn.waiting = f"ask-{self.asked}"
            call = {"toolCallId": turn.waiting, "title": step.question, "kind": "other", "status": "pending"}
            kinds = (("yes", "Allow", "allow_once"), ("no", "Reject", "reject_once"))
            options = [{"optionId": option, "name": name, "kind": kind} for option, name, kind in kinds]
            update(turn, sessionUpdate="tool_call", **call)
            parameters = {"sessionId": turn.session, "toolCall": call, "options": options}
            send(id=turn.waiting, method="session/request_permission", params=parameters)

    def answered(self, request: Any, result: Any) -> None:
        """An answer to a question of ours; one that comes too late changes nothing."""
        outcome = result.get("outcome") if isinstance(result, dict) else None
        outcome = outcome if isinstance(outcome, dict) else {}
        for turn in [turn for turn in self.turns if turn.waiting and turn.waiting == request]:
            turn.chosen = str(outcome.get("optionId") or "none")
            status = "completed" if turn.chosen == "yes" else "failed"
            update(turn, sessionUpdate="tool_call_update", toolCallId=turn.waiting, status=status)
            turn.waiting = ""

    def end(self, turn: Turn, reason: str) -> None:
        if turn.waiting:
            update(turn, sessionUpdate="tool_call_update", toolCallId=turn.waiting, status="failed")
        self.turns.remove(turn)
        send(id=turn.request, result={"stopReason": reason})


def update(turn: Turn, **fields: Any) -> None:
    send(method="session/update", params={"sessionId": turn.session, "update": fields})


def send(**message: Any) -> None:
    data = memoryview(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    while data:
        data = data[os.write(1, data) :]


def main() -> int:
    """Exit code: 0 at the end of stdin, 143 after SIGTERM."""
    if "--version" in sys.argv[1:]:
        sys.stdout.write(f"kai-offline {VERSION}\n")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with suppress(BrokenPipeError, KeyboardInterrupt):  # whoever started us is gone
        Agent().run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
