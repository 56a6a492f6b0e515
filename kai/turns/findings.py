"""What is wrong with an installation, from the ground up: each finding has a name, what is wrong, and the mend."""

import os
from datetime import timedelta
from pathlib import Path

import anyio
from anyio import to_thread

from kai.memory.vectors import missing
from kai.model.people import Person
from kai.store import backup, binding, migrate, opening, people, vectors
from kai.store.errors import CorruptDatabaseError
from kai.turns.machine import finding, machine
from kai.turns.parts import Parts
from kai.turns.people_findings import people_findings
from kai.turns.protection import protection
from kai.turns.views import View

SOUND_SQLITE = (3, 51, 3)  # older ones can lose pages when two connections write or checkpoint at the same instant
FULL_BYTES = 1024 * 1024  # less room is none: SQLite needs some for its log
LOW_BYTES = 64 * 1024 * 1024


async def findings(parts: Parts, own_user: str) -> list[View]:
    """Empty when nothing is wrong. Reads the whole database, about 40 MB a second."""
    state = parts.store.path.parent
    found = [finding("config", problem, "Correct the file, then 'kai reload'.") for problem in parts.config.problems]
    found += await to_thread.run_sync(_disk, state)
    if not found or found[-1]["name"] != "disk-full":
        found += await _backups(parts)
    if damage := await parts.store.read(opening.damage):
        found.append(finding("database-damaged", f"{parts.store.path}: {damage}", CorruptDatabaseError.remedy))
    unwise = await to_thread.run_sync(parts.config.warnings)
    found += [finding("agent-definition", problem, "Change it, then 'kai reload'.") for problem in unwise]
    if binding.sqlite_version_info < SOUND_SQLITE:
        version = ".".join(map(str, binding.sqlite_version_info))
        problem = f"SQLite {version} can lose pages when a second program writes at the same instant"
        mend = "Install the package pysqlite3, and let nothing but kai open kai.db."
        found.append(finding("sqlite-old", problem, mend))
    everybody = await parts.store.read(people.every)
    if not everybody:
        found.append(finding("no-person", "kai knows nobody", "'kai person add NAME'."))
    found += await machine(parts)
    found += await _memory(parts)
    found += await protection(parts, everybody, own_user)
    for person in everybody:
        found += await _person(parts, person, own_user)
    return found + await people_findings(parts)


def _disk(state: Path) -> list[View]:
    """Blocks."""
    disk = os.statvfs(state)
    free = disk.f_bavail * disk.f_frsize
    if disk.f_flag & os.ST_RDONLY:
        mend = "Mount it for writing; after a fault of the disk, look into the system's log first."
        return [finding("disk-read-only", f"{state} is on a disk that cannot be written to", mend)]
    if free < FULL_BYTES or (disk.f_files and not disk.f_favail):
        what = "room" if free < FULL_BYTES else "place for another file"
        mend = "Make room: until then no message is accepted. Nothing is lost, and kai goes on by itself."
        return [finding("disk-full", f"the disk of {state} has no {what} left", mend)]
    if free < LOW_BYTES:
        return [finding("disk-low", f"the disk of {state} has only {free // 1024**2} MB left", "Make room on it.")]
    return []


async def _memory(parts: Parts) -> list[View]:
    """Why memory is not searched by its meaning, where it should be."""
    settings = parts.config.settings.memory
    if not settings.enabled or settings.embedder.provider == "none" or await parts.store.read(vectors.is_empty):
        return []
    if parts.vectors is None:
        gone = await to_thread.run_sync(missing, settings.embedder) or settings.embedder.provider
        mend = "pip install 'kai[memory]', or set memory.embedder.provider to none; then start kai again."
        return [finding("memory-by-words", f"memory is searched by words alone: not installed: {gone}", mend)]
    found = []
    if failure := parts.vectors.embedder.failure:
        found.append(finding("embedder-unavailable", f"{parts.vectors.embedder.identity}: {failure}", failure.hint))
    number = await parts.store.read(vectors.number, str(parts.vectors.embedder.identity))
    waiting = await parts.store.read(vectors.paused, number or 0)
    if waiting:
        problem = f"the vectors of {len(waiting)} shelves are another embedder's: they are not searched by meaning"
        doing = any(one.wanted == number for one in waiting if number)
        mend = "A rebuild is under way." if doing else "'kai memory reindex' makes them anew."
        found.append(finding("memory-paused", problem, mend))
    return found


async def _backups(parts: Parts) -> list[View]:
    state, days = parts.store.path.parent, parts.config.settings.backups.warn_days
    there = await to_thread.run_sync(backup.listing, state)
    last = there[0].manifest.moment if there else await parts.store.read(migrate.made_at)
    found = []
    if days and parts.clock.now() - last > timedelta(days=days):
        problem = (
            f"the last backup is of {last:%Y-%m-%d}" if there else f"there is no backup in {state}/{backup.FOLDER}"
        )
        found.append(finding("backup-old", problem, "'kai backup'; docs/how-to/backup.md shows a timer for it."))
    needed, room = await to_thread.run_sync(lambda: (backup.room_needed(state), backup.room(state)))
    if needed > room:
        problem = f"the disk of {state} will not hold another backup: {needed // 1024**2} MB are needed"
        mend = "Make room, or keep fewer (backups.keep) and copy them elsewhere ('kai backup --to')."
        found.append(finding("backup-no-room", problem, mend))
    return found


async def _person(parts: Parts, person: Person, own_user: str) -> list[View]:
    home = parts.folders.home(person.principal)
    found = []
    if person.os_user == own_user and not await anyio.Path(home).is_dir():
        found.append(finding("home-missing", f"{person.name}'s home {home} is not there", "'kai person add' makes it."))
    return found
