"""A daemon of its own process, as small as can be: it spawns one run, and does what the lines on its stdin say.

``python -m tests.processes.daemon HOLD_S COMMAND`` runs COMMAND by the shell in the current folder, and answers each
line (``wait``, ``kill``, ``stats``, ``close``) and the start with a line of JSON.
"""

import json
import sys
from pathlib import Path

import anyio

from kai.model.errors import KaiError
from kai.model.ids import RunId
from kai.processes.direct import DirectLauncher
from kai.processes.kept import KeptRun
from kai.processes.launcher import LaunchSpec

RUN = RunId("r-daemon")


async def do(run: KeptRun, word: str) -> object:
    match word:
        case "wait":
            end = await run.wait()
            return {"code": end.code, "signal": end.signal, "out_of_memory": end.out_of_memory}
        case "kill":
            return {"killed": await run.kill_tree()}
        case "stats":
            return {"processes": (await run.stats()).processes}
        case _:
            await run.aclose()
            return {}


def say(what: object) -> None:
    print(json.dumps(what), flush=True)


async def main(hold_s: float, command: str) -> None:
    env = {"KAI_RUN": RUN, "PATH": "/usr/bin:/bin"}
    spec = LaunchSpec(RUN, ("/bin/sh", "-c", command), env, str(Path.cwd()), hold_s=hold_s)
    try:
        run = await DirectLauncher().spawn(spec)
    except KaiError as error:
        say({"error": error.sentence})
        return
    say({"pid": run.pid})
    while line := await anyio.to_thread.run_sync(sys.stdin.readline):
        try:
            say(await do(run, line.strip()))
        except KaiError as error:
            say({"error": error.sentence})


if __name__ == "__main__":
    anyio.run(main, float(sys.argv[1]), sys.argv[2])
