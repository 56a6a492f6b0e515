"""As A's agent: become root or B, by sudo, su, set-user-id programs, system calls, namespaces."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, sys.argv[0].rpartition("/tests/")[0])
from tests.security.attacks.attempt import PLACES, NothingGainedError, attempt

own = os.getuid()
b = pwd.getpwnam(PLACES["b"]).pw_uid


def run(*argv: str, env: dict[str, str] | None = None) -> Callable[[], object]:
    def do() -> object:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, env=env)
        if done.returncode or done.stdout.strip() in ("", str(own)):
            raise NothingGainedError(done.stderr.strip().splitlines()[0] if done.stderr.strip() else "it stays A")
        return done.stdout

    return do


attempt("sudo", run("sudo", "-n", "id", "-u"))
attempt("sudo as B", run("sudo", "-n", "-u", PLACES["b"], "id", "-u"))
attempt("su", run("su", "-c", "id -u"))
attempt("setuid(0)", lambda: os.setuid(0))
attempt("setuid(B)", lambda: os.setresuid(b, b, b))
attempt("setgroups", lambda: os.setgroups([0]))
for program in PLACES["setuid_programs"]:
    attempt(f"a set-user-id root program: {Path(program).name}", run(program, "-p", "-c", "id -u"))


def own_setuid() -> object:
    shutil.copy("/bin/sh", "shell")
    try:
        os.chown("shell", 0, 0)
        return "a shell of root's"
    finally:
        os.unlink("shell")


def in_a_namespace() -> object:
    command = f"id -u; cat {PLACES['files_of_b'][0]}"
    done = subprocess.run(["unshare", "-Ur", "sh", "-c", command], capture_output=True, text=True, timeout=10)
    if done.returncode:  # root in there, and still A to everybody outside
        raise NothingGainedError(done.stderr.strip().splitlines()[-1])
    return done.stdout


attempt("a set-user-id program of its own", own_setuid)
attempt("root of a user namespace, and read B's file", in_a_namespace)
Path("preload.so").write_bytes(b"\x7fELF")
preloaded = {"LD_PRELOAD": f"{Path.cwd()}/preload.so"}
attempt("a set-user-id program with LD_PRELOAD", run("su", "-c", "id -u", env=preloaded))
