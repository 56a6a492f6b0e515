"""`kai system install` and `uninstall`: what belongs where, and in which order."""

import os
import stat
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from kai.catalog.manifests import load
from kai.commands.init import commented
from kai.commands.system_policy import policy
from kai.commands.system_steps import StepFailedError, Steps
from kai.model.errors import DeniedError
from kai.resources import folder
from kai.settings.where import INSTALLED, marker

EGRESS = ("kai-egress.socket", "kai-egress.service")
BACKUP = ("kai-backup.timer", "kai-backup.service")
UNITS = ("kai.service", "kai-spawner.socket", "kai-spawner.service", "kai-bridge@.service", *EGRESS, *BACKUP)
STARTED = ("kai-spawner.socket", "kai-backup.timer", "kai.service")
WHERE_IT_IS_WRITTEN = "/opt/kai"  # in the shipped units, to be replaced by where this kai is
HIDDEN = ("/home", "/root", "/run/user", "/tmp", "/var/tmp")  # noqa: S108 - what the units see nothing of
USER = "kai"
WHY_S = 15.0  # for a service that did not start to say why


@dataclass(frozen=True, slots=True)
class Places:
    """Where the files of the service are; `root` is another than ``/`` only for tests."""

    root: Path = Path("/")
    prefix: Path = Path(sys.prefix)

    def at(self, path: str | Path) -> Path:
        return self.root / str(path).lstrip("/")

    @property
    def profile(self) -> Path:
        return self.at("/etc/systemd/system/kai-spawner.service.d/profile.conf")


def install(steps: Steps, *, profile: str | None = None, starts: bool = True, places: Places | None = None) -> None:
    """Put everything in place and start it. Raises `DeniedError` for a kai that others may change."""
    places = places or Places()
    if reason := unsafe(places.prefix):
        raise DeniedError(
            f"this kai cannot serve: {reason}", f"Install it for root, as with 'python3 -m venv {WHERE_IT_IS_WRITTEN}'."
        )
    source = folder("systemd")
    users, folders = places.at("/etc/sysusers.d/kai.conf"), places.at("/etc/tmpfiles.d/kai.conf")
    if steps.file(users, (source / "kai.sysusers").read_text()):
        steps.run("systemd-sysusers", users)
    if steps.file(folders, (source / "kai.tmpfiles").read_text()):
        steps.run("systemd-tmpfiles", "--create", folders)
    config = places.at(INSTALLED[0] / "kai.yaml")
    if os.path.lexists(config):
        steps.note("kept", str(config))
    else:
        steps.file(config, _config(), 0o640, group=USER)
    _policy(steps, places)
    has_changed = [steps.file(places.at(f"/etc/systemd/system/{name}"), _unit(name, places)) for name in UNITS]
    if profile or not places.profile.exists():
        told = (source / "profiles" / f"{profile or 'strict'}.conf").read_text()
        has_changed.append(steps.file(places.profile, told))
    steps.file(marker(places.prefix), "kai of this folder is the service of this machine\n")
    steps.link(places.at("/usr/local/bin/kai"), places.prefix / "bin/kai")
    if any(has_changed):
        steps.run("systemctl", "daemon-reload")
    calls_out = places.at(INSTALLED[0] / "egress.yaml").exists()
    _start(steps, (*EGRESS[: int(calls_out)], *STARTED), starts=starts, has_changed=any(has_changed))


def _config() -> str:
    """A first kai.yaml: the one setting that a service needs to differ in is set."""
    own_files = "#people:\n", "people:\n", "#  files: inline\n", "  files: as_owner\n"
    return commented().replace(*own_files[:2]).replace(*own_files[2:])


def _policy(steps: Steps, places: Places) -> None:
    """What the spawner may start, with the agent CLIs that are there by now."""
    path = places.at(INSTALLED[0] / "spawner.json")
    own = places.at(INSTALLED[0] / "backends")
    manifests = load(folder("backends"), own if own.is_dir() else None).values()
    try:
        found = path.read_text() if path.exists() else ""
        steps.file(path, policy(found, manifests, USER, str(places.prefix / "bin/python3")))
    except (ValueError, AttributeError, TypeError) as error:
        steps.note("is", f"{path} cannot be read and stays ({error}); the spawner starts nothing until it is mended")


def _start(steps: Steps, units: tuple[str, ...], *, starts: bool, has_changed: bool) -> None:
    for unit in units:
        if steps.ask("systemctl", "is-enabled", unit) != "enabled":
            steps.run("systemctl", "enable", unit)
        if not starts:
            continue
        try:
            if steps.ask("systemctl", "is-active", unit) != "active":
                steps.run("systemctl", "start", unit)
            elif has_changed and unit.endswith(".service"):
                steps.run("systemctl", "restart", unit)
        except StepFailedError as error:
            raise StepFailedError(error.argv, f"{error.said} {_why(steps, unit)}".strip()) from error
    if starts and not steps.is_dry:
        steps.note("is", f"kai.service: {steps.ask('systemctl', 'show', '-P', 'StatusText', 'kai') or 'started'}")


def _why(steps: Steps, unit: str) -> str:
    """What the service said of its failure; while it is tried once more, nothing is said for a moment."""
    give_up_at = time.monotonic() + WHY_S
    while unit == "kai.service" and time.monotonic() < give_up_at:
        if (told := steps.ask("systemctl", "show", "-P", "StatusText", unit)).startswith("Failed"):
            return told
        time.sleep(0.2)
    return ""


def uninstall(steps: Steps, *, places: Places | None = None) -> None:
    """Stop it and remove what `install` made, but for what is people's own."""
    places = places or Places()
    bridges = steps.ask("systemctl", "list-units", "--all", "--plain", "--no-legend", "kai-bridge@*").splitlines()
    own = ("kai.service", "kai-spawner.service", "kai-spawner.socket", "kai-backup.timer", *EGRESS)
    units = [*(line.split()[0] for line in bridges if line.strip()), *own]
    there = [unit for unit in units if steps.ask("systemctl", "show", "-P", "LoadState", unit) == "loaded"]
    if there:
        steps.run("systemctl", "disable", "--now", *there)
    before = len(steps.done)
    for name in UNITS:
        steps.gone(places.at(f"/etc/systemd/system/{name}"))
    steps.gone(places.profile)
    if len(steps.done) > before:
        steps.run("systemctl", "daemon-reload")
        for unit in own:
            steps.ask("systemctl", "reset-failed", unit)
    steps.gone(places.at("/etc/sysusers.d/kai.conf"))
    steps.gone(places.at("/etc/tmpfiles.d/kai.conf"))
    link = places.at("/usr/local/bin/kai")
    if link.is_symlink() and link.readlink() == places.prefix / "bin/kai":
        steps.gone(link)
    steps.gone(marker(places.prefix))
    for path, what in ((INSTALLED[0], "configuration"), (INSTALLED[1], "messages and people's files")):
        if places.at(path).exists():
            steps.note("is", f"{path} stays ({what}); remove it by hand if it shall go")
    steps.note("is", f"the OS user {USER!r} and those of people stay; {places.prefix} stays")


def _unit(name: str, places: Places) -> str:
    text = (folder("systemd") / name).read_text()
    return text.replace(f"{WHERE_IT_IS_WRITTEN}/", f"{places.prefix}/")


def unsafe(prefix: Path) -> str:
    """Why a kai in `prefix` must not run with privileges: somebody but root may change it. Empty: it may."""
    for start in (prefix, Path(os.path.realpath(prefix / "bin/python"))):
        if any(start.is_relative_to(hidden) for hidden in HIDDEN):
            return f"{start} is not seen by a service"
        for path in (start, *start.parents):
            found = path.lstat()
            if found.st_uid != 0:
                return f"{path} belongs to user {found.st_uid}, not to root"
            if found.st_mode & 0o022 and not (stat.S_ISLNK(found.st_mode) or found.st_mode & stat.S_ISVTX):
                return f"others may write to {path}"
    return ""
