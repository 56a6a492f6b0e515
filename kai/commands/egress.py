"""``kai egress``."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import anyio
import click

from kai.bridges.egress import LIMIT_S, Egress, Upstream
from kai.commands.connect import FolderFlags, folders_of
from kai.settings import load
from kai.settings.problems import ConfigError, Place, Problem, problem
from kai.settings.where import Folders

NAME = "kai-egress.socket"  # as systemd names what it passes
FILE = "egress.yaml"


@click.command()
@click.option(
    "--socket", type=click.Path(path_type=Path), metavar="PATH", help="Listen here; else on systemd's socket."
)
@click.pass_obj
def command(flags: FolderFlags, socket: Path | None) -> None:
    """Call out for the daemon: pass on requests to what egress.yaml lists, and nothing else.

    The key of an upstream is the file ``egress_KEY`` in $CREDENTIALS_DIRECTORY, as systemd puts it there.
    """
    upstreams = upstreams_of(folders_of(flags), Path(os.environ.get("CREDENTIALS_DIRECTORY", "/nonexistent")))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # uvicorn raises it once more at its end
    with ExitStack() as stack:
        anyio.run(_serve, upstreams, stack.enter_context(_listener(socket)))


def upstreams_of(folders: Folders, credentials: Path) -> list[Upstream]:
    """What egress.yaml lists, with keys. Raises `ConfigError` with everything that is wrong."""
    listed, places = load.egress(folders)
    found, problems = [], list[Problem]()
    for name, one in listed.items():
        try:
            found.append(Upstream(one.url, (credentials / f"egress_{one.key}").read_text().strip() if one.key else ""))
        except (OSError, UnicodeDecodeError) as error:
            told = f"the key {one.key!r} cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'})"
            remedy = f"put it there: install -m 600 FILE /etc/kai/credentials/egress/{one.key}"
            problems.append(problem(places.get(name, Place(str(folders.config / FILE))), f"{name}.key", told, remedy))
    if problems:
        raise ConfigError(tuple(problems))
    return found


@contextmanager
def _listener(path: Path | None) -> Iterator[int]:
    """The descriptor to listen on: of a socket of our own, readable by our user alone, or the one that was passed."""
    from kai.api.sockets import bind  # noqa: PLC0415 - the help needs none of it
    from kai.systemd import take_kept  # noqa: PLC0415

    passed = take_kept()
    if path is None:
        if NAME not in passed:
            raise click.UsageError("systemd passed no socket; name one with --socket.")
        yield passed[NAME]
        return
    bound = bind(path)
    try:
        yield bound.listener.fileno()
    finally:
        bound.remove()


async def _serve(upstreams: list[Upstream], listener: int) -> None:
    import httpx  # noqa: PLC0415 - the help needs none of it
    import uvicorn  # noqa: PLC0415

    limits = httpx.Limits(max_connections=8)
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=LIMIT_S, limits=limits) as client:
        app = Egress(upstreams, client)
        config = uvicorn.Config(app, fd=listener, lifespan="off", log_level="warning", access_log=False, ws="none")
        await uvicorn.Server(config).serve()
