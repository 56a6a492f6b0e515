"""As A's agent: end or stop the daemon, the spawner, its own keeper, B's agent."""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[0].rpartition("/tests/")[0])
from tests.security.attacks.attempt import PLACES, attempt

targets = {**PLACES["pids"], "B's agent": PLACES["pid_of_b"]}
for name, pid in targets.items():
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        attempt(f"{number.name} to {name}", os.kill, pid, number)
attempt("SIGKILL to B's agent by its pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(PLACES["pid_of_b"]), 9))
if PLACES["groups"]:
    for group in Path(PLACES["groups"]).glob("run-*"):
        attempt("kill the control group of a run", (group / "cgroup.kill").write_text, "1")
    attempt("leave its own control group", lambda: (Path(PLACES["groups"]) / "cgroup.procs").write_text("0"))
    attempt("make a control group", lambda: (Path(PLACES["groups"]) / "run-r-mine").mkdir())
