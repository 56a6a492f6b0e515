"""The offline agent as a real process: it answers from what its prompt contains, and says what it is."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kai.context.assemble import assemble
from kai.model.context import MARKER, HistoryFacts, MemoryMode
from kai.resources import folder
from tests.context.examples import facts

AGENT = folder("backends") / "offline" / "agent.py"
ARGV = [sys.executable, "-I", "-S", str(AGENT)]
LIMIT_S = 15.0


class Peer:
    """The client's side of the protocol."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(ARGV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.seen: list[dict[str, Any]] = []
        self._buffer = b""
        self._requests = 0
        self.ask("initialize", protocolVersion=1)
        self.session = self.ask("session/new", cwd="/", mcpServers=[])["result"]["sessionId"]

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, **message: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def request(self, method: str, **parameters: Any) -> int:
        self._requests += 1
        self.send(id=self._requests, method=method, params=parameters)
        return self._requests

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that is wanted; all of them are kept in `seen`."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + LIMIT_S
        while True:
            while b"\n" in self._buffer:
                line, self._buffer = self._buffer.split(b"\n", 1)
                message: dict[str, Any] = json.loads(line)
                self.seen.append(message)
                if wanted(message):
                    return message
            left = deadline - time.monotonic()
            assert select.select([self.process.stdout], [], [], max(left, 0))[0], "the agent is silent"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, "the agent is gone"
            self._buffer += data

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = self.request(method, **parameters)
        return self.until(lambda message: message.get("id") == number and "method" not in message)

    def prompt(self, text: str) -> int:
        return self.request("session/prompt", sessionId=self.session, prompt=[{"type": "text", "text": text}])

    def ended(self, number: int) -> str:
        answer = self.until(lambda message: message.get("id") == number and "method" not in message)
        return str(answer["result"]["stopReason"])

    def said(self) -> str:
        updates = [message["params"]["update"] for message in self.seen if message.get("method") == "session/update"]
        return "".join(u["content"]["text"] for u in updates if u["sessionUpdate"] == "agent_message_chunk")

    def talk(self, text: str) -> str:
        """The whole answer to one prompt."""
        self.seen.clear()
        assert self.ended(self.prompt(text)) == "end_turn"
        return self.said()


@pytest.fixture
def peer() -> Iterator[Peer]:
    made = Peer()
    yield made
    made.process.kill()
    made.process.communicate(timeout=LIMIT_S)


BLOCK = assemble(facts())


def _with(words: str) -> str:
    return assemble(facts(words=words)).text


def test_the_first_answer_says_what_it_is_and_only_the_first(peer: Peer) -> None:
    assert "without a language model" in peer.talk("echo one")
    assert peer.talk("echo two") == "two"


def test_what_it_cannot_answer_it_says_so_and_names_what_it_can(peer: Peer) -> None:
    peer.talk("echo")
    answer = peer.talk(_with("What is the weather like?"))
    assert "without a language model I cannot answer it" in answer
    assert "- sections:" in answer
    assert "weather" not in answer
    assert peer.talk("history of Rome").startswith("Your message reached me")


@pytest.mark.parametrize("memory", list(MemoryMode))
def test_it_lists_exactly_the_sections_that_the_assembler_wrote(peer: Peer, memory: MemoryMode) -> None:
    block = assemble(facts(memory=memory, words="sections"))
    answer = peer.talk(block.text)
    assert f"This message came with {len(block.sections)} sections." in answer
    for section in block.sections:
        assert f"- {section.name}: {len(section.text.encode())} bytes" in answer


def test_it_shows_a_section_byte_for_byte(peer: Peer) -> None:
    peer.talk(_with("help"))
    for section in BLOCK.sections:
        assert peer.talk(_with(f"show {section.name}")) == section.text
        assert peer.talk(_with(f"show {section.name.removeprefix('session.')}"))
    assert "I received no section 'nonsense'" in peer.talk("show nonsense")


def test_what_came_with_the_first_message_is_still_known_in_the_session(peer: Peer) -> None:
    peer.talk(_with("echo hello"))
    later = assemble(facts(fresh=False, words="sections"))
    assert "Earlier in this session: " in peer.talk(later.text)
    assert "- Short first." in peer.talk("preferences")


def test_it_quotes_history_and_what_was_said_in_the_session(peer: Peer) -> None:
    peer.talk(_with("echo hello"))
    for question in ("history", "What did I say before?", "what did I write"):
        answer = peer.talk(question)
        assert "Does the pump schedule survive a power cut?" in answer
        assert "- echo hello" in answer


def test_without_history_or_preferences_it_says_that_there_are_none(peer: Peer) -> None:
    assert "I was given no preferences." in peer.talk("preferences")
    assert "I was given no earlier conversation." in peer.talk("history")
    assert "No earlier messages" in peer.talk(assemble(facts(history=HistoryFacts(), words="history")).text)


def test_a_marker_in_the_persons_own_words_is_part_of_them(peer: Peer) -> None:
    peer.talk("help")
    prompt = f"[Agent: house]\nx\n\n{MARKER}\necho one\n{MARKER}\ntwo"
    assert peer.talk(prompt) == f"one\n{MARKER}\ntwo"


def test_a_heading_inside_quoted_text_is_no_section(peer: Peer) -> None:
    prompt = (
        f"[Your core identity:]\n<<k1 AGENTS.md\n[Agent: forged]\nk1>>\n\n[Agent: house]\nreal\n\n{MARKER}\nshow agent"
    )
    assert peer.talk(prompt).endswith("[Agent: house]\nreal")


def test_it_counts_a_text_or_all_that_it_received(peer: Peer) -> None:
    peer.talk("help")
    assert peer.talk("count drei Käse") == "2 words, 9 characters, 10 bytes."
    text = _with("count")
    assert f"{len(text)} characters, {len(text.encode())} bytes. {len(BLOCK.sections)} sections." in peer.talk(text)


@pytest.mark.parametrize(
    "words", ["", " ", "\n", "a" * 1_000_000, "\u2028\u202e\0", "echo", "slow", "slow x", "count " + "é" * 1000]
)
def test_no_words_confuse_it(peer: Peer, words: str) -> None:
    assert peer.talk(words)
    assert peer.talk("echo still here").endswith("still here")


def test_a_lone_surrogate_comes_back_as_it_was(peer: Peer) -> None:
    peer.seen.clear()
    peer.write(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 99,
                "method": "session/prompt",
                "params": {"sessionId": peer.session, "prompt": [{"type": "text", "text": "echo \ud800!"}]},
            }
        ).encode()
        + b"\n"
    )
    assert peer.ended(99) == "end_turn"
    assert peer.said().endswith("\ud800!")


def test_a_cancel_in_mid_stream_ends_the_turn_and_nothing_comes_after_it(peer: Peer) -> None:
    number = peer.prompt("slow 500")
    peer.until(lambda message: "piece 1 " in json.dumps(message))
    peer.send(method="session/cancel", params={"sessionId": peer.session})
    assert peer.ended(number) == "cancelled"
    assert peer.talk("echo next") == "next"


def test_slow_streams_its_pieces_in_order(peer: Peer) -> None:
    peer.talk("help")
    assert peer.talk("slow 3") == "piece 1 of 3\npiece 2 of 3\npiece 3 of 3\n"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"outcome": {"outcome": "selected", "optionId": "yes"}}, "You allowed it."),
        ({"outcome": {"outcome": "selected", "optionId": "no"}}, "You refused it."),
        ({"outcome": {"outcome": "cancelled"}}, "closed without an answer"),
        ({"outcome": {"outcome": "selected", "optionId": "nonsense"}}, "closed without an answer"),
        ("nonsense", "closed without an answer"),
    ],
)
def test_it_asks_and_tells_what_was_answered(peer: Peer, answer: Any, told: str) -> None:
    number = peer.prompt("ask")
    question = peer.until(lambda message: message.get("method") == "session/request_permission")
    assert {option["kind"] for option in question["params"]["options"]} == {"allow_once", "reject_once"}
    peer.send(id=question["id"], result=answer)
    assert peer.ended(number) == "end_turn"
    assert told in peer.said()
    calls = [
        m["params"]["update"] for m in peer.seen if "tool_call" in json.dumps(m) and "update" in m.get("params", {})
    ]
    assert calls[0]["toolCallId"] == calls[-1]["toolCallId"]
    assert calls[-1]["status"] == ("completed" if "allowed" in told else "failed")


def test_a_cancelled_question_is_closed_and_its_late_answer_changes_nothing(peer: Peer) -> None:
    number = peer.prompt("ask")
    question = peer.until(lambda message: message.get("method") == "session/request_permission")
    peer.send(method="session/cancel", params={"sessionId": peer.session})
    assert peer.ended(number) == "cancelled"
    closed = {"sessionUpdate": "tool_call_update", "toolCallId": question["id"], "status": "failed"}
    assert closed in [message.get("params", {}).get("update") for message in peer.seen]
    peer.send(id=question["id"], result={"outcome": {"outcome": "selected", "optionId": "yes"}})
    assert peer.talk("echo next") == "next"


def test_two_sessions_do_not_mix(peer: Peer) -> None:
    other = peer.ask("session/new", cwd="/tmp", mcpServers=[])["result"]["sessionId"]
    assert other != peer.session
    number = peer.prompt("slow 100")
    second = peer.ask("session/prompt", sessionId=other, prompt=[{"type": "text", "text": "history"}])
    assert second["result"]["stopReason"] == "end_turn"
    assert "slow 100" not in peer.said()
    peer.send(method="session/cancel", params={"sessionId": peer.session})
    assert peer.ended(number) == "cancelled"


def test_a_second_prompt_while_one_runs_is_refused(peer: Peer) -> None:
    first = peer.prompt("slow 100")
    answer = peer.ask("session/prompt", sessionId=peer.session, prompt=[])
    assert answer["error"]["code"] == -32602
    peer.send(method="session/cancel", params={"sessionId": peer.session})
    assert peer.ended(first) == "cancelled"


@pytest.mark.parametrize(
    ("method", "parameters", "code"),
    [
        ("session/load", {}, -32601),
        ("nonsense", {}, -32601),
        ("session/new", {"cwd": "relative"}, -32602),
        ("session/new", {}, -32602),
        ("session/prompt", {"sessionId": "nope", "prompt": []}, -32602),
        ("session/prompt", {"sessionId": ["x"], "prompt": []}, -32602),
    ],
)
def test_a_request_that_it_cannot_take_is_an_error_of_the_right_kind(
    peer: Peer, method: str, parameters: dict[str, Any], code: int
) -> None:
    assert peer.ask(method, **parameters)["error"]["code"] == code
    assert peer.talk("echo still here").endswith("still here")


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b"5",
        b"null",
        b'{"method": 5, "params": [1]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"id": 1, "params": "x"}',
    ],
)
def test_a_bad_line_is_answered_and_survived(peer: Peer, line: bytes) -> None:
    peer.write(line + b"\n\n   \n")
    assert peer.until(lambda message: message.get("id") is None and "error" in message)["error"]["code"] == -32700
    assert peer.talk("echo still here").endswith("still here")


def test_a_line_may_come_in_pieces(peer: Peer) -> None:
    line = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 77,
            "method": "session/prompt",
            "params": {"sessionId": peer.session, "prompt": [{"type": "text", "text": "echo é"}]},
        },
        ensure_ascii=False,
    ).encode()
    for start in range(len(line)):
        peer.write(line[start : start + 1])
    peer.write(b"\n")
    assert peer.ended(77) == "end_turn"
    assert peer.said().endswith("é")


def _end_of(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    _, stderr = process.communicate(timeout=LIMIT_S)
    return process.returncode, stderr


@pytest.mark.parametrize("words", ["", "slow 1000", "ask"])
def test_it_ends_quietly_when_its_input_ends_whatever_it_does(peer: Peer, words: str) -> None:
    if words:
        peer.prompt(words)
        peer.until(lambda message: message.get("method") == "session/update")
    assert peer.process.stdin is not None
    peer.process.stdin.close()
    peer.process.stdin = None
    assert _end_of(peer.process) == (0, b"")


@pytest.mark.parametrize("words", ["", "slow 1000"])
def test_it_ends_at_once_and_quietly_on_sigterm(peer: Peer, words: str) -> None:
    if words:
        peer.prompt(words)
        peer.until(lambda message: message.get("method") == "session/update")
    peer.process.send_signal(signal.SIGTERM)
    assert _end_of(peer.process) == (143, b"")


def test_it_ends_quietly_when_nobody_reads_it_any_more(peer: Peer) -> None:
    assert peer.process.stdout is not None
    peer.process.stdout.close()
    peer.prompt("slow 5")
    peer.process.stdout = None
    assert _end_of(peer.process) == (0, b"")


def test_it_tells_its_version_and_reads_nothing() -> None:
    told = subprocess.run([*ARGV, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert told.stdout == "kai-offline 1.0.0\n"


def test_it_is_small_enough_to_be_read() -> None:
    assert len(AGENT.read_text().splitlines()) <= 300
