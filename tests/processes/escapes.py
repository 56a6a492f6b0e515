"""How processes get away from whoever started them, as shell commands that tell their pids by files."""

from pathlib import Path

ESCAPES = {
    "a child": "sleep 1000 & echo $! > child",
    "its own session": "setsid sleep 1000 & sleep 0.01; setsid sh -c 'echo $$ > session; exec sleep 1000' &",
    "a double fork": "(setsid sh -c '(echo $$ > outer; sleep 1000 & echo $! > twice) &' &) &",
    "deaf to TERM": "sh -c 'trap \"\" TERM HUP INT; echo $$ > deaf; while :; do sleep 1000; done' &",
    "stopped": "sleep 1000 & echo $! > stopped; kill -STOP $!",
    "deep": "( ( ( sleep 1000 & echo $! > deep; wait ) & wait ) & wait ) &",
    "silent": "setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! > silent",
}

FORK_STORM = """
import os, time
for kind in range(6):
    if os.fork() == 0:
        while True:
            if os.fork() == 0:
                if kind % 2:
                    time.sleep(1000) if kind == 1 else os._exit(0)
                os.setsid()
            elif kind % 2 == 0:
                os._exit(0)  # only the child goes on
            else:
                time.sleep(0.002)
os.write(1, b"storm\\n")
time.sleep(1000)
"""


def marked_in_cwd(folder: Path) -> list[int]:
    """Processes that work in `folder`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found
