"""`kai system upgrade`: another version beside the one that serves, checked, then put in its place; else put back.

The process that does it runs from the folder that is moved away: whatever it needs is imported before.
"""

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kai.commands.system_install import USER, unsafe
from kai.commands.system_steps import StepFailedError, Steps
from kai.model.errors import DeniedError, KaiError
from kai.settings.where import INSTALLED, marker

CONFIG, STATE, _ = INSTALLED


@dataclass
class NotUpgradedError(KaiError):
    """The new version did not come up; the former one serves again."""

    version: str
    former: str
    reason: str

    @property
    def sentence(self) -> str:
        why = " ".join(self.reason.split())
        return f"kai {self.version} did not come up, and kai {self.former} is back with its database: {why}"

    @property
    def hint(self) -> str:
        return "'journalctl -u kai' has the whole story. No accepted message is lost."


@dataclass(frozen=True, slots=True)
class Wanted:
    """What pip shall install, from `links` alone where given, for the kai in `prefix`."""

    what: str
    links: Path | None
    prefix: Path

    @property
    def draft(self) -> Path:
        return self.prefix.with_name(self.prefix.name + ".new")

    @property
    def former(self) -> Path:
        return self.prefix.with_name(self.prefix.name + ".old")


def upgrade(steps: Steps, wanted: Wanted) -> None:
    """Raises `NotUpgradedError` when the former version was put back, `StepFailedError` before anything was touched."""
    if not marker(wanted.prefix).exists() and not steps.is_dry:
        raise DeniedError(f"{wanted.prefix} is not the service's kai", "'kai system install' makes it so.")
    if reason := unsafe(wanted.prefix):
        raise DeniedError(reason)
    before = _version(steps, wanted.prefix)
    _prepare(steps, wanted)
    after = before if steps.is_dry else _version(steps, wanted.draft)
    if after == before and not steps.is_dry:
        shutil.rmtree(wanted.draft)
        steps.note("kept", f"kai {before}: it is the version that was asked for")
        return
    try:
        steps.run(wanted.draft / "bin/python", "-I", "-m", "kai", "--config", CONFIG, "check-config", user=USER)
    except StepFailedError:
        shutil.rmtree(wanted.draft)
        raise
    steps.run("systemctl", "stop", "kai.service", "kai-spawner.service")
    copy = STATE / "backups" / f"kai-before-{after}-{datetime.now(UTC):%Y%m%dT%H%M%S}.db"
    try:
        _keep(steps, wanted.prefix, "keep", copy)
        _swap(steps, wanted)
        steps.run(wanted.prefix / "bin/kai", "system", "install")
        _answers(steps, wanted, after)
    except KaiError as error:
        _put_back(steps, wanted, copy)
        raise NotUpgradedError(after, before, error.sentence) from error
    if not steps.is_dry:
        shutil.rmtree(wanted.former)
    steps.note("is", f"kai {after} serves; it was {before}, whose database is kept as {copy}")


def _prepare(steps: Steps, wanted: Wanted) -> None:
    """Make a copy of what serves, and let pip change that."""
    if not steps.is_dry:
        shutil.rmtree(wanted.draft, ignore_errors=True)
        shutil.rmtree(wanted.former, ignore_errors=True)
    steps.run("cp", "-a", "--reflink=auto", wanted.prefix, wanted.draft)
    where = ("--no-index", "--find-links", str(wanted.links)) if wanted.links else ()
    what = str(Path(wanted.what).resolve()) if Path(wanted.what).exists() else wanted.what
    pip = (wanted.draft / "bin/python", "-I", "-m", "pip", "--disable-pip-version-check", "install", "--upgrade")
    try:
        steps.run(*pip, "--no-compile", "--no-warn-script-location", "--root-user-action=ignore", *where, what)
        # As if it had been installed where it is going to be; the service's user may write no compiled files.
        strip = ("-s", wanted.draft, "-p", wanted.prefix, wanted.draft / "lib")
        steps.run(wanted.draft / "bin/python", "-I", "-m", "compileall", "-q", *strip)
    except StepFailedError:
        shutil.rmtree(wanted.draft, ignore_errors=True)
        raise
    if not steps.is_dry:
        for script in (wanted.draft / "bin").iterdir():
            if script.is_file() and not script.is_symlink():
                text = script.read_bytes().replace(f"{wanted.draft}/".encode(), f"{wanted.prefix}/".encode())
                script.write_bytes(text)


def _swap(steps: Steps, wanted: Wanted) -> None:
    steps.note("changed", f"{wanted.prefix}; what was there is {wanted.former} until the new one serves")
    if not steps.is_dry:
        wanted.prefix.rename(wanted.former)
        wanted.draft.rename(wanted.prefix)


def _put_back(steps: Steps, wanted: Wanted, copy: Path) -> None:
    """The former version, and its database where the new one has changed it."""
    steps.ask("systemctl", "stop", "kai.service", "kai-spawner.service")
    if wanted.former.exists():
        shutil.rmtree(wanted.draft, ignore_errors=True)
        wanted.prefix.rename(wanted.draft)
        wanted.former.rename(wanted.prefix)
        steps.note("changed", f"{wanted.prefix}, back to what it was")
    shutil.rmtree(wanted.draft, ignore_errors=True)
    _keep(steps, wanted.prefix, "put-back", copy)
    steps.ask("systemctl", "reset-failed", "kai.service")
    steps.run(wanted.prefix / "bin/kai", "system", "install")


def _keep(steps: Steps, prefix: Path, verb: str, copy: Path) -> None:
    """Copy the database, or put the copy back, as the service's user: root follows no path that kai could bend."""
    steps.run(prefix / "bin/python", "-I", "-m", "kai.store.safekeeping", verb, STATE / "kai.db", copy, user=USER)


def _version(steps: Steps, prefix: Path) -> str:
    return steps.output((str(prefix / "bin/python"), "-I", "-m", "kai", "version")).split()[-1]


def _answers(steps: Steps, wanted: Wanted, version: str) -> None:
    """Raises `StepFailedError` unless the service answers, in that version."""
    if steps.is_dry:
        return
    argv = (str(wanted.prefix / "bin/kai"), "status", "--json")
    told = json.loads(steps.output(argv))
    if told.get("version") != version:
        raise StepFailedError(argv, f"kai {told.get('version')} answers instead of {version}")
