"""``kai serve``."""

import faulthandler
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from typing import Any

import anyio
import click

from kai.first_use import importing
from kai.settings.where import Folders, find, prepare


@click.command()
@click.option("--with", "bridge", type=click.Choice(["terminal"]), help="Also start this bridge; leave when it ends.")
@click.option("--idle-exit", "idle_exit_s", type=float, default=0.0, metavar="S", help="Leave after S idle seconds.")
@click.pass_obj
def command(flags: tuple[str | None, str | None, str | None], bridge: str | None, idle_exit_s: float) -> None:
    """Run the daemon in the foreground, until SIGTERM or Ctrl-C; SIGHUP reads the configuration again."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to look for some reads all that is installed
    with importing():
        from kai import daemon  # noqa: PLC0415 - it knows every part
        from kai.log import log, set_up  # noqa: PLC0415

    folders = find(*flags)
    on_ready = _with_terminal(folders) if bridge else None
    set_up("info")  # until the configuration says otherwise
    faulthandler.enable()  # a watchdog ends a loop that is stuck by SIGABRT: the journal has the line it stands in
    os.chdir("/")  # so that it keeps no folder from being unmounted
    with log.apart():
        anyio.run(partial(daemon.run, folders, idle_exit_s=idle_exit_s, on_ready=on_ready))


def _with_terminal(folders: Folders) -> Any:
    """Starts ``kai chat`` on this terminal once the daemon is ready; what the daemon logs goes to a file."""
    prepare(folders)
    terminal = os.dup(2)
    log = os.open(folders.state / "kai.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    os.dup2(log, 2)
    where = ["--state", str(folders.state), "--runtime", str(folders.runtime)]
    argv = [sys.executable, "-m", "kai", *where, "chat"]

    def chat(cwd: str) -> None:
        subprocess.run(argv, stderr=terminal, cwd=cwd, check=False)
        os.kill(os.getpid(), signal.SIGTERM)

    chatting = threading.Thread(target=chat, args=(os.getcwd(),), daemon=True)  # noqa: PTH109 - str

    async def on_ready(_: Any) -> None:
        chatting.start()

    return on_ready
