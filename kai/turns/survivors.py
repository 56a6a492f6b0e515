"""Turns that outlive the daemon that began them: their agents work on, and systemd has kept the ends of their pipes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kai.launcher.passing import close_all
from kai.log import log
from kai.model.errors import LaunchError
from kai.model.ids import ChannelId, DispatchId, RunId, TurnId
from kai.model.turns import SessionRow
from kai.processes.kept import Pipes
from kai.processes.launcher import Launcher
from kai.processes.spawner import let_go, names_of
from kai.store import sessions, turns
from kai.store.database import Store


@dataclass(frozen=True, slots=True)
class Survivor:
    """A run that works on the open attempt of a turn. `pipes`: our ends of its stdin, stdout and stderr."""

    run: RunId
    turn: TurnId
    channel: ChannelId
    dispatch: DispatchId
    session: SessionRow
    pipes: tuple[int, ...]


async def survivors(
    store: Store, launcher: Launcher, kept: Mapping[RunId, list[int]], runs: Path
) -> dict[TurnId, Survivor]:
    """By turn, those of a former daemon's runs that can go on; every other one is ended.

    `kept`: the pipes by run; `runs`: the folder of the wire files.
    """
    found: dict[TurnId, Survivor] = {}
    left = dict(kept)
    for run in await store.read(sessions.open_runs):
        pipes = left.pop(run, None)
        at_work = await store.read(turns.at_work_on, run) if pipes else None
        if at_work is not None and pipes and (runs / run / "wire").is_file():
            turn, dispatch, session = at_work
            found[turn.turn] = Survivor(run, turn.turn, turn.channel, dispatch, session, tuple(pipes))
            log.info("turn.survived", turn=turn.turn, run=run)
        elif launcher.name == "spawner":
            with suppress(LaunchError):  # it has ended by itself
                await (await launcher.claim(run, pipes or _none())).aclose()
        elif pipes:
            left[run] = pipes
    for run, pipes in left.items():
        let_go(names_of(run))
        close_all(pipes)
    return found


def _none() -> list[int]:
    """Ends of pipes whose other ends nobody has."""
    pipes = Pipes()
    pipes.close_theirs()
    return pipes.ours
