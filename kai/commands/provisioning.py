"""What root does for a person or a shared channel beside the daemon: its OS user, its folders, and how that is told."""

import os
import pwd
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from kai.client import Client
from kai.commands.connect import folders_of
from kai.commands.verb import Verb
from kai.model.errors import BadInputError, KaiError
from kai.people.provision import POLICY, Provision

os_user_option = click.option("--os-user", default="", metavar="USER", help="OS user of their agents; root makes it.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Tell what would be done, and do nothing.")


@dataclass
class NeedsRootError(KaiError):
    """OS users and their folders are root's to make and to take away."""

    command: str

    @property
    def sentence(self) -> str:
        return "Only root makes OS users, gives folders to them, and takes them away."

    @property
    def hint(self) -> str:
        return f"Run this: {self.command}"


def is_another(how: Verb, os_user: str) -> bool:
    """Whether `os_user` is another one than the daemon's, to whom the state folder belongs."""
    try:
        owner = folders_of(how.flags).state.stat().st_uid
    except OSError:  # there is no kai yet: it will be whoever asks
        owner = os.geteuid()
    try:
        return bool(os_user) and pwd.getpwnam(os_user).pw_uid != owner
    except KeyError:
        return True


def as_root(how: Verb, *, dry_run: bool = False) -> Provision:
    """Root's own work, on the state folder of this installation. Raises `NeedsRootError` with what to run."""
    folders = folders_of(how.flags)
    if os.geteuid() != 0 and not dry_run:
        # Root looks in other places by default: it is told where this kai is.
        named = (("--config", folders.config), ("--state", folders.state), ("--runtime", folders.runtime))
        where = [word for flag, path in named if path.exists() for word in (flag, str(path))]
        rest = [word for word in sys.argv[1:] if word not in {*where, *filter(None, how.flags)}]
        own = Path(sys.argv[0]).absolute()
        kai = [sys.executable, "-m", "kai"] if own.name == "__main__.py" else [str(own)]
        raise NeedsRootError(shlex.join(["sudo", *kai, *where, *rest]))
    return Provision(folders.state, dry=dry_run, policy=folders.config / POLICY)


def tell(how: Verb, provision: Provision, found: Mapping[str, Any], *, last: str = "") -> int:
    """What was done, a line each, and what came of it; the exit status."""
    steps = [asdict(step) for step in provision.steps]
    would = {"made": "would make", "changed": "would change", "removed": "would remove"} if provision.dry else {}
    width = max((len(would.get(step.did, step.did)) for step in provision.steps), default=0)
    if found.get("problem"):
        last = f"But their first files could not be written: {found['problem']}"
    lines = [f"{would.get(step.did, step.did).ljust(width)}  {step.what}" for step in provision.steps]
    how.lines({**found, "dry_run": provision.dry, "steps": steps}, filter(None, [*lines, last]))
    return 1 if found.get("problem") else 0


async def free(client: Client, os_user: str, whose: str) -> None:
    """Raises `BadInputError` when the OS user is another person's, or another shared channel's."""
    for one in [*await client.people(), *await client.channels()]:
        if one["os_user"] == os_user and whose not in (one.get("principal"), one.get("channel")):
            owner = one.get("name") or one.get("title")
            raise BadInputError("os_user", f"{os_user!r} is {owner}'s already", "Everybody has one of their own.")
