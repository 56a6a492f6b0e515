"""What the words of a script do."""

import json
import os
import pwd
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.fake_agent.agent import FOR_EVER_S, MARKER, Agent

ERRORS = {
    "login": (401, "authentication_failed", "Failed to authenticate. API Error: 401 bad key"),
    "quota": (429, "rate_limit", "API Error: Request rejected (429) · too many"),
    "model": (404, "model_not_found", "There's an issue with the selected model (x)."),
    "provider": (500, "server_error", "API Error: 500 internal. This is a server-side issue."),
    "refused": (400, "invalid_request", "Output blocked by content filtering policy"),
    "context": (413, "invalid_request", "Request too large (max 32MB)."),
}


ESCAPE = """
import os, sys
os.setsid()
if os.fork():
    sys.exit()
print(os.getpid(), flush=True)
os.execvp("sleep", ["sleep", "1000"])
"""


class Deeds:
    """``do_NAME`` for every word, ``later_NAME`` for what happens after the turn."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def do_say(self, value: str) -> None:
        self.agent.say(value)

    def do_slow(self, value: str) -> None:
        number, _, gap = value.partition(",")
        for piece in range(int(number)):
            self.agent.say(f"chunk{piece} ")
            self.agent.pause(float(gap or 0.05))

    def do_long(self, value: str) -> None:
        self.agent.say("0123456789"[: int(value)] if int(value) < 10 else "0123456789" * (int(value) // 10))

    def do_who(self, value: str) -> None:
        """As whom it runs, where, and with what home."""
        user, groups = pwd.getpwuid(os.geteuid()).pw_name, sorted(os.getgroups())
        self.agent.say(json.dumps({"user": user, "home": os.environ["HOME"], "cwd": str(Path.cwd()), "groups": groups}))

    def do_read(self, value: str) -> None:
        """What stands in a file, or why it cannot be read."""
        try:
            self.agent.say(Path(value.replace(" ", "_")).read_text(errors="replace"))
        except OSError as error:
            self.agent.say(f"cannot: {error.strerror}")

    def do_write(self, value: str) -> None:
        path, _, text = value.partition(",")
        Path(path.replace(" ", "_")).write_text(text)
        self.agent.say("written")

    def do_think(self, value: str) -> None:
        self.agent.face.think(value or "let me think")

    def do_tool(self, value: str) -> None:
        self.agent.face.tool_result(self.agent.call(value or "Bash", "ls"), True, "a result")

    def do_run(self, value: str) -> None:
        """Runs a command, as an agent's shell tool does, and says what it wrote."""
        key = self.agent.call("Bash", value)
        done = subprocess.run(value.split(), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        self.agent.face.tool_result(key, done.returncode == 0, done.stdout or done.stderr)
        self.agent.say(f"{done.returncode}: {done.stdout or done.stderr}")

    def do_script(self, value: str) -> None:
        """Runs a Python script that a test has put into the folder ``--state``."""
        key = self.agent.call("Bash", value)
        argv = [sys.executable, str(Path(self.agent.options.state) / value)]
        done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        self.agent.face.tool_result(key, done.returncode == 0, done.stdout)
        self.agent.say(done.stdout + done.stderr)

    def do_badtool(self, value: str) -> None:
        self.agent.face.tool_result(self.agent.call(value or "Bash", "ls"), False, "no such file")

    def do_opentool(self, value: str) -> None:
        self.agent.call(value or "Bash", "ls")

    def do_ask(self, value: str) -> None:
        key = self.agent.call(value or "Bash", "touch x")
        verdict = self.agent.wait_for_answer(self.agent.face.ask(key, value or "Bash", {"command": "touch x"}))
        self.agent.face.tool_result(key, bool(verdict), verdict or "denied")
        self.agent.say(verdict or "denied")

    def do_question(self, value: str) -> None:
        name, arguments = self.agent.face.question()
        self.agent.say(
            f"answer: {self.agent.wait_for_answer(self.agent.face.ask('tool-q', name, arguments)) or 'none'}"
        )

    def do_withdraw(self, value: str) -> None:
        request: Any = self.agent.face.ask(self.agent.call("Bash", "touch x"), "Bash", {"command": "touch x"})
        self.agent.pause(float(value or 0.1))
        self.agent.face.withdraw(request)

    def do_silent(self, value: str) -> None:
        self.agent.pause(float(value or FOR_EVER_S))

    def do_busy(self, value: str) -> None:
        until = time.monotonic() + float(value or FOR_EVER_S)
        while time.monotonic() < until and not self.agent.interrupted.is_set():
            sum(range(10_000))
        self.agent.pause(0.0)

    def do_endless(self, value: str) -> None:
        for number in range(1_000_000_000):
            self.agent.say(f"word{number} ")
            self.agent.pause(0.005)

    def do_loop(self, value: str) -> None:
        for _ in range(int(value or 1_000_000_000)):
            self.agent.say("partial one ")
            self.agent.say("partial two ")
            self.agent.pause(0.0005)

    def do_nostop(self, value: str) -> None:
        self.agent.nostop = True

    def do_noise(self, value: str) -> None:
        self.agent.wire.raw(b'Warning: update available\n\n\r\n{"broken": \n[1,2]\nnull\n7\n\xff\xfe\n')

    def do_unknown(self, value: str) -> None:
        self.agent.face.unknown()

    def do_huge(self, value: str) -> None:
        self.agent.wire.raw(b'{"type":"banana","jsonrpc":"2.0","method":"x","x":"')
        for _ in range(int(value)):
            self.agent.wire.raw(b"x" * 1024 * 1024)
        self.agent.wire.raw(b'"}\n')

    def do_u2028(self, value: str) -> None:
        self.agent.say("one\u2028two\u2029three\u0085four")

    def do_surrogate(self, value: str) -> None:
        # Escaped, as a JSON writer of another language does it: the line itself is good UTF-8.
        self.agent.wire.raw(json.dumps(self.agent.face.piece("a\ud800b")).encode() + b"\n")
        self.agent.said += "a?b"
        self.agent.whole += "a?b"

    def do_stderr(self, value: str) -> None:
        sys.stderr.write("e" * (int(value or 70_000) - 1) + "\n")
        sys.stderr.flush()

    def do_deaf(self, value: str) -> None:
        self.agent.wire.deaf = True

    def do_half(self, value: str) -> None:
        self.agent.wire.raw(b'{"type":"stream_')
        self.agent.pause(FOR_EVER_S)

    def do_noend(self, value: str) -> None:
        self.agent.say("all I have to say")
        self.agent.pause(FOR_EVER_S)

    def do_empty(self, value: str) -> bool:
        self.agent.face.end("")
        return True

    def do_zero(self, value: str) -> bool:
        self.agent.face.end("", turns=0)
        return True

    def do_die(self, value: str) -> None:
        print("fatal: something broke", file=sys.stderr)
        self.agent.leave(int(value or 1))

    def do_kill(self, value: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_stubborn(self, value: str) -> None:
        self.agent.stubborn = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def do_hog(self, value: str) -> None:
        held = bytearray(int(value) << 20)
        held[::4096] = b"x" * len(held[::4096])
        self.agent.pause(FOR_EVER_S)

    def do_closeout(self, value: str) -> None:
        os.close(1)
        time.sleep(FOR_EVER_S)

    def do_child(self, value: str) -> None:
        child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL)
        self.agent.say(f"child {child.pid} ")

    def do_escape(self, value: str) -> None:
        child = subprocess.Popen([sys.executable, "-c", ESCAPE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert child.stdout is not None
        self.agent.say(f"escaped {child.stdout.readline().decode().strip()} ")

    def do_error(self, value: str) -> bool:
        self.agent.face.fail(*ERRORS[value or "login"])
        return True

    def do_quota(self, value: str) -> bool:
        """Only the first N times: who waits for the reset gets an answer. Needs ``--state``.

        With a + it tells how long it takes and not when it ends.
        """
        after_s, _, times = value.partition(",")
        met = Path(self.agent.options.state) / "limits-met"  # the same account, whichever process asks
        met.write_text(f"{met.read_text() if met.exists() else ''}.")
        if len(met.read_text()) > int(times or 1):
            return False
        reset = f"|{int(time.time() + float(after_s))}" if after_s else ""
        reset = f". Please try again in {after_s[1:]}s." if after_s.startswith("+") else reset
        self.agent.face.fail(429, "rate_limit", f"API Error: usage limit reached{reset}")
        return True

    def do_hear(self, value: str) -> None:
        """Waits for words that are steered into the turn, and says them."""
        heard = self.agent.listen_in(float(value or 10))
        if heard:
            self.agent.face.took(heard)
        self.agent.say(f"heard: {heard.rpartition(MARKER)[2] or 'nothing'}")

    def do_errtext(self, value: str) -> None:
        self.agent.face.error_text(ERRORS["login"][2])

    def do_retry(self, value: str) -> None:
        for attempt in range(1, int(value or 2) + 1):
            self.agent.face.retry(attempt, 10)
            self.agent.pause(0.01)

    def do_late(self, value: str) -> None:
        self.agent.after.append(("late", float(value or 0.05)))

    def later_late(self) -> None:
        self.agent.face.late("LATE words")

    def do_unsolicited(self, value: str) -> None:
        self.agent.after.append(("unsolicited", float(value or 0.05)))

    def later_unsolicited(self) -> None:
        self.agent.face.unsolicited("BACKGROUND work is done")

    def do_noids(self, value: str) -> None:
        self.agent.face.ids = False

    def do_second(self, value: str) -> None:
        self.agent.after.append(("second", 0.0))

    def later_second(self) -> None:
        self.agent.face.end("SECOND result")

    def do_newid(self, value: str) -> None:
        self.agent.face.new_id()

    def do_compact(self, value: str) -> None:
        self.agent.face.compact()

    def do_usage(self, value: str) -> None:
        self.agent.face.usage()

    def do_remember(self, value: str) -> None:
        self.agent.memory["word"] = value
        self.agent.say(f"remembered {value}")

    def do_recall(self, value: str) -> None:
        self.agent.say(f"word: {self.agent.memory.get('word', 'none')}")

    def do_model(self, _: str) -> None:
        self.agent.say(f"{self.agent.model} {self.agent.effort}".strip())

    def do_pid(self, value: str) -> None:
        self.agent.say(f"pid {os.getpid()} ")

    def do_cwd(self, value: str) -> None:
        self.agent.say(f"cwd {Path.cwd()} ")

    def do_count(self, value: str) -> None:
        self.agent.say(f"count {self.agent.count} ")

    def do_env(self, value: str) -> None:
        self.agent.say(f"{value}={os.environ.get(value, '')} ")

    def do_argv(self, value: str) -> None:
        self.agent.say(" ".join(sys.argv[1:]))
