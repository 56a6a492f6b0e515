"""A session that is only to show whether an agent can be used here: in an empty folder, with nothing chosen."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio import to_thread

from kai.clock import Clock
from kai.model.backends import Manifest
from kai.model.ids import RunId
from kai.processes.launcher import Launcher
from kai.processes.plan import plan
from kai.protocols.driver import DriverSetup
from kai.protocols.hosting import open_session
from kai.protocols.registry import driver_for
from kai.protocols.session import Session


@asynccontextmanager
async def trial(  # noqa: PLR0913 - what a trial may be of, by name
    launcher: Launcher,
    manifest: Manifest,
    os_user: str,
    clock: Clock,
    place: Path,
    *,
    home: Path | None = None,
    has_login: bool | None = None,
    resume: str = "",
    keep: bool = False,
) -> AsyncIterator[tuple[Session, tuple[str, ...]]]:
    """A ready session of `manifest`, and the notes of its launch. It works in `place`, a folder that is
    not there yet and is named as a run is; for another OS user in the `home` of that one, who may not enter `place`.

    With `keep` its wire file is left as ``wire`` in that folder, also when it is lost; else nothing is left.
    """
    await anyio.Path(place).mkdir(mode=0o700)
    cwd = home or place
    planned = await to_thread.run_sync(
        lambda: plan(
            manifest,
            run=RunId(place.name),
            model="",
            effort="",
            permissions="ask",
            resume=resume,
            temporary=False,
            workspace=cwd,
            os_user=os_user,
            home=home or Path.home(),
            has_login=has_login,
            socket_path=place / "none.sock",
        )
    )
    async with open_session(
        launcher,
        planned.spec,
        driver_for(DriverSetup(manifest=manifest, cwd=str(cwd))),
        manifest.limits,
        clock=clock,
        wire_path=place / "wire",
        resume=resume,
        keep_wire=keep,
    ) as session:
        yield session, planned.notes
