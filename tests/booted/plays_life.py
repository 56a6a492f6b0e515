"""The life of a service: installed, started, used by two persons, read again, stopped."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from tests.booted.inside import row
from tests.booted.machine import (
    BACKEND,
    KAI,
    agents,
    api,
    drop_in,
    end_of,
    kai,
    kill,
    main_pid,
    quietly,
    restart,
    run,
    running,
    show,
    until,
)

CONFIG = Path("/etc/kai/kai.yaml")
PEOPLE = ("alice", "bob")
WRONG = re.compile(r"kai\.yaml:\d+:1: conext")


@row("pip install of the wheel into /opt/kai, kai system install", "active and enabled; the daemon is not root")
def installed() -> tuple[bool, str]:
    run("/usr/bin/python3", "-m", "venv", "/opt/kai", check=True)
    run("/opt/kai/bin/pip", "install", "-q", "--no-index", "--find-links", "/shared/wheels", "kai<90", check=True)
    done = run(KAI, "system", "install")
    active, enabled = run("systemctl", "is-active", "kai").stdout, run("systemctl", "is-enabled", "kai").stdout
    user = Path(f"/proc/{main_pid()}").owner()
    is_well = (done.returncode, active, enabled, user) == (0, "active\n", "enabled\n", "kai")
    return is_well, f"{active} {enabled} as {user} {done.stderr}"


@row("kai system install, again and dry", "nothing had to be done")
def again() -> tuple[bool, str]:
    told = [run(KAI, "system", "install", *more).stdout for more in ([], ["--dry-run"])]
    return all(
        "Nothing had to be done" in one for one in told
    ), f"{told[0].splitlines()[-1]} / {told[1].splitlines()[-1]}"


@row("systemctl status; the daemon's network and rights", "a line of status; no interface but lo, no capability")
def watched() -> tuple[bool, str]:
    status, proc = show("kai", "StatusText"), Path(f"/proc/{main_pid()}")
    interfaces = [line.split(":")[0].strip() for line in (proc / "net/dev").read_text().splitlines()[2:]]
    lines = dict(line.split(":\t", 1) for line in (proc / "status").read_text().splitlines() if ":\t" in line)
    rights = (lines["CapEff"].strip("0"), lines["CapBnd"].strip("0"), lines["NoNewPrivs"])
    is_well = "turns run" in status and interfaces == ["lo"] and rights == ("", "", "1")
    return is_well, f"'{status}', {interfaces}, CapEff {lines['CapEff']} NoNewPrivs {lines['NoNewPrivs']}"


@row("kai person add --os-user, for two persons", "their OS users are made; nobody else is let in")
def people() -> tuple[bool, str]:
    folder = Path("/etc/kai/backends/fake")
    folder.mkdir(parents=True)
    (folder / "backend.yaml").write_text(BACKEND)
    CONFIG.write_text(CONFIG.read_text() + "backend: fake\n")
    for name in PEOPLE:
        kai("person", "add", name.title(), "--os-user", name, check=True)
    run("useradd", "-m", "mallory", check=True)
    run("systemctl", "reload", "kai", check=True)
    stranger = kai("chat", "hello", who="mallory")
    users = {one["name"]: one["os_user"] for one in api("GET", "/v1/people")}
    is_well = users == {"Alice": "alice", "Bob": "bob"} and stranger.returncode == 1
    return is_well, f"{users}; mallory: {stranger.stderr.splitlines()[0]}"


@row("kai doctor, as root", "everything is well")
def sound() -> tuple[bool, str]:
    done = kai("doctor")
    return done.returncode == 0, done.stdout + done.stderr


@row("kai-backup.timer, systemctl start kai-backup", "it waits for the night; one verified backup more")
def backed_up() -> tuple[bool, str]:
    before = json.loads(kai("backup", "--list", "--json").stdout)
    done = run("systemctl", "start", "kai-backup")
    after = json.loads(kai("backup", "--list", "--json").stdout)
    timer = (
        run("systemctl", "is-enabled", "kai-backup.timer").stdout
        + run("systemctl", "is-active", "kai-backup.timer").stdout
    )
    night = show("kai-backup.timer", "NextElapseUSecRealtime")
    is_well = (len(after) - len(before), timer, done.returncode) == (1, "enabled\nactive\n", 0) and bool(night)
    said = "" if is_well else run("journalctl", "-u", "kai-backup", "-n", "8", "-o", "cat", "--no-pager").stdout
    return is_well, f"{len(before)} before, {len(after)} after; next {night} {said}"


CALL = """
import http.client, socket, sys
c = http.client.HTTPConnection("127.0.0.1", 8099)
c.sock = socket.socket(socket.AF_UNIX)
c.sock.settimeout(5)
c.sock.connect("/run/kai-egress/egress.sock")
c.request("POST", sys.argv[1], "{}")
print(c.getresponse().status)
"""
SERVE = """
from http.server import *
class H(BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(200 if self.headers["authorization"] == "Bearer k-123" else 401)
        self.end_headers()
HTTPServer(("127.0.0.1", 8099), H).serve_forever()
"""


@row(
    "egress.yaml, kai system install; a call over its socket",
    "the listed URL with its key; nothing else, and by nobody else",
)
def called_out() -> tuple[bool, str]:
    Path("/etc/kai/egress.yaml").write_text("one:\n  url: http://127.0.0.1:8099/one\n  key: one\n")
    key = Path("/etc/kai/credentials/egress/one")
    key.write_text("k-123\n")
    key.chmod(0o600)
    run(KAI, "system", "install", check=True)
    python = "/usr/bin/python3"

    def call(who: str, path: str) -> str:
        done = run("runuser", "-u", who, "--", python, "-c", CALL, path)
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

    with subprocess.Popen([python, "-c", SERVE], stderr=subprocess.DEVNULL) as service:
        try:
            try:
                until(lambda: call("kai", "/one") == "200")
            except AssertionError:
                return False, run("journalctl", "-u", "kai-egress*", "-n", "20", "-o", "cat", "--no-pager").stdout
            seen = [call("kai", "/one"), call("kai", "/two"), call("alice", "/one")]
        finally:
            service.kill()
    user = Path(f"/proc/{main_pid('kai-egress')}").owner()
    is_well = seen[:2] == ["200", "403"] and "Permission denied" in seen[2] and user == "kai-egress"
    return is_well, f"{seen}, as {user}"


@row("a message of each person by kai chat, as their uid, with the offline agent", "their own words come back")
def spoken() -> tuple[bool, str]:
    answers = [kai("chat", "--backend", "offline", f"echo hello from {name}", who=name) for name in PEOPLE]
    is_well = all(f"hello from {name}" in one.stdout for name, one in zip(PEOPLE, answers, strict=True))
    return is_well, " / ".join(f"{one.stdout.strip()[-60:]} {one.stderr.strip()}" for one in answers)


@row("the agent of a message of alice's", "runs as alice, and nobody sees its turn but she")
def as_person() -> tuple[bool, str]:
    kai("use", "fake", who="alice", check=True)
    kai("use", "fake", who="bob", check=True)
    chat, turn = running("FAKE:slow=2000,0.05")
    uids = {run("id", "-nu", str(uid)).stdout.strip() for uid in agents().values()}
    peeked = kai("turn", "show", turn["turn"], who="bob")
    api("POST", f"/v1/turns/{turn['turn']}/stop", {})
    chat.wait()
    ended = end_of(turn["turn"])
    state = f"{ended['state']} {ended['reason']}".strip()
    is_well = uids == {"alice"} and peeked.returncode == 1 and ended["state"] == "stopped"
    return is_well, f"runs as {uids}; bob: {peeked.stderr.splitlines()[0]}; {state}"


@row("systemctl reload with a bad file, then a good one", "refused with file:line:column, the last good one holds")
def reloaded() -> tuple[bool, str]:
    before, pid = CONFIG.read_text(), main_pid()
    CONFIG.write_text(before + "conext: {}\n")
    bad = run("systemctl", "reload", "kai").returncode
    status = until(lambda: show("kai", "StatusText") if "kai.yaml" in show("kai", "StatusText") else "")
    answers = kai("chat", "still there?", who="bob")
    CONFIG.write_text(before)
    good = run("systemctl", "reload", "kai").returncode
    is_well = (bad, answers.returncode, good, main_pid()) == (1, 0, 0, pid) and bool(WRONG.search(status))
    return is_well, f"reload {bad} then {good}; a message meanwhile: {answers.stdout}{answers.stderr}; {status}"


@row(
    "start with a refused configuration", "active, no message taken, the reason in systemctl status; goes on by itself"
)
def shut() -> tuple[bool, str]:
    before = CONFIG.read_text()
    CONFIG.write_text(before + "conext: {}\n")
    restart()
    active, status = run("systemctl", "is-active", "kai").stdout.strip(), show("kai", "StatusText")
    chat = kai("chat", "hello", who="alice")
    CONFIG.write_text(before)
    run("systemctl", "reload", "kai")
    until(lambda: api("GET", "/v1/status"))
    answered = kai("chat", "and now?", who="alice").returncode
    is_well = active == "active" and bool(WRONG.search(status)) and chat.returncode == 1 and answered == 0
    restarts = show("kai", "NRestarts")
    return is_well and restarts == "0", f"{active}, '{status}'; a message: {chat.stderr}; mended: {answered}"


@row("start without kai.yaml", "as with a refused one")
def missing() -> tuple[bool, str]:
    before = CONFIG.read_text()
    CONFIG.unlink()
    restart()
    active, status = run("systemctl", "is-active", "kai").stdout.strip(), show("kai", "StatusText")
    CONFIG.write_text(before)
    until(lambda: api("GET", "/v1/status"))  # it looks again by itself
    return active == "active" and "no such file" in status, f"{active}, '{status}'"


@row("SIGTERM in a turn of 6 s, TimeoutStopSec=3", "the turn comes to its end, time is asked for, exit 0")
def drained() -> tuple[bool, str]:
    with drop_in("kai.service", "TimeoutStopSec=3"):
        chat, turn = running("FAKE:slow=120,0.05")
        at = time.monotonic()
        run("systemctl", "stop", "kai")
        took = time.monotonic() - at
        result, code = show("kai", "Result"), show("kai", "ExecMainStatus")
        chat.wait()
    run("systemctl", "start", "kai", check=True)
    state = end_of(turn["turn"])["state"]
    is_well = (state, result, code) == ("done", "success", "0") and took > 3.5
    return is_well, f"{state} after {took:.1f} s, {result}, exit {code}"


@row("SIGTERM twice in a turn", "an immediate end, exit 0, the turn owned up to")
def twice() -> tuple[bool, str]:
    chat, turn = running("FAKE:slow=4000,0.05")
    pid = main_pid()
    kill(pid, signal.SIGTERM)
    until(lambda: not quietly(lambda: api("GET", "/v1/turns/none")) and "Stopping" in show("kai", "StatusText"))
    at = kill(pid, signal.SIGTERM)
    until(lambda: not Path(f"/proc/{pid}").exists())
    took = time.monotonic() - at
    chat.kill()
    until(lambda: main_pid() != pid)
    ended = end_of(turn["turn"])
    is_well = took < 5 and ended["state"] == "interrupted" and not agents() and show("kai", "Result") == "success"
    return is_well, f"ended {took:.1f} s after the second; {ended['state']}: {ended['reason']}; {len(agents())} agents"


@row("systemctl stop", "no process, no socket; kai says how to start it; start again")
def stopped() -> tuple[bool, str]:
    run("systemctl", "stop", "kai", check=True)
    sockets, chat = os.path.lexists("/run/kai/people.sock"), kai("chat", "hello", who="alice")
    left = run("pgrep", "-u", "kai").stdout.split()
    run("systemctl", "start", "kai", check=True)
    until(lambda: api("GET", "/v1/status"))
    is_well = not sockets and not left and not agents() and "systemctl start kai" in chat.stderr
    return is_well, f"left: {left}; {chat.stderr}"
