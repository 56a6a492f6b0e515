"""From the start of ``kai serve`` to its first answer, against a process that imports what the daemon stands on."""

import json
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from pathlib import Path

from kai.bench.figures import Figure, paired
from kai.bench.processes import SERVE, House, plain_environment, process, until_ready

_WARM_UP = 3
_PAIRS, _QUICK_PAIRS = 30, 8
# Runs ``kai serve`` as any other, but for this: ready, it prints what it holds, and ends.
_TELL = """
import json, os, sys
from kai import cli, daemon
run = daemon.run
async def tell(_):
    held = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
    print(json.dumps(held), flush=True)
    os._exit(0)
async def run_and_tell(folders, **how):
    await run(folders, **{**how, "on_ready": tell})
daemon.run = run_and_tell
cli.main(["serve"])
"""


def measure(root: Path, *, quick: bool) -> Figure:
    """Starts on a state that is there already, one of each in turn."""
    house = House(root)
    house.prepare()
    wanted = third_party(modules_of_daemon(house))
    program = "import " + ", ".join(wanted)
    pairs = []
    for number in range(_WARM_UP + (_QUICK_PAIRS if quick else _PAIRS)):
        if number % 2:
            ours = _start(house)
            pairs.append((ours, _imports(program)))
        else:
            theirs = _imports(program)
            pairs.append((_start(house), theirs))
    del pairs[:_WARM_UP]
    return paired(
        "start_up",
        [(ours * 1000, theirs * 1000) for ours, theirs in pairs],
        to_reach=1.5,
        unit="ms",
        against=f"a process that imports the {len(wanted)} third-party modules that the ready daemon holds, and ends",
    )


def modules_of_daemon(house: House) -> dict[str, str]:
    """All modules that a ready daemon holds, as it tells them itself: name and file ("" for those without)."""
    argv = [sys.executable, "-c", _TELL]
    told = subprocess.run(argv, env=house.environment, capture_output=True, text=True, check=True, timeout=60)
    held: dict[str, str] = json.loads(told.stdout)
    return held


def third_party(held: Mapping[str, str]) -> list[str]:
    """The names of those that were installed and are not kai's own."""
    installed = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    return sorted(name for name, file in held.items() if file.startswith(installed) and name.split(".")[0] != "kai")


def _start(house: House) -> float:
    log = house.root / "log"
    began = time.perf_counter()
    with process(SERVE, house.environment, log) as child:
        until_ready(child, house.socket, log)
        return time.perf_counter() - began


def _imports(program: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env=plain_environment())
    return time.perf_counter() - began
