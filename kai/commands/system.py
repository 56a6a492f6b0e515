"""``kai system``: kai as a service of this machine."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from kai.commands.show import json_of, lines
from kai.commands.system_install import install as put_in_place
from kai.commands.system_install import uninstall as take_away
from kai.commands.system_steps import Steps
from kai.commands.system_upgrade import Wanted
from kai.commands.system_upgrade import upgrade as bring_newer
from kai.commands.verb import json_option

PROFILES = ("strict", "nested-sandbox")


@click.group()
def command() -> None:
    """kai as a service of this machine: its units, users and folders. Run it as root, with the kai that shall serve."""


def _does(work: Callable[[Steps], None], *, is_dry: bool, as_json: bool) -> None:
    steps = Steps(is_dry=is_dry, tell=(lambda _: None) if as_json else click.echo)
    steps.must_be_root()
    work(steps)
    if as_json:
        json_of([{"did": one.did, "what": one.what} for one in steps.done])
    elif not steps.has_changed:
        lines(["Nothing had to be done."])


dry_option = click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would be done.")


@command.command()
@dry_option
@click.option("--agents", type=click.Choice(PROFILES), help="What agents may do [default: as it is, else strict].")
@click.option("--no-start", is_flag=True, help="Put everything in place, but start nothing.")
@json_option
def install(is_dry: bool, agents: str | None, no_start: bool, as_json: bool) -> None:
    """Install the service, or bring its files up to date. What you changed in /etc/kai stays as it is."""
    _does(lambda steps: put_in_place(steps, profile=agents, starts=not no_start), is_dry=is_dry, as_json=as_json)


@command.command()
@dry_option
@json_option
def uninstall(is_dry: bool, as_json: bool) -> None:
    """Stop the service and remove its units. Configuration, messages, files and users stay, and it says where."""
    _does(take_away, is_dry=is_dry, as_json=as_json)


@command.command()
@click.argument("what", default="kai", metavar="[WHEEL|REQUIREMENT]")
@click.option("--find-links", metavar="DIR", help="Take packages from this folder, and from nowhere else.")
@dry_option
@json_option
def upgrade(what: str, find_links: str | None, is_dry: bool, as_json: bool) -> None:
    """Install another version and start it. When it does not come up, the former one is put back, database and all."""
    wanted = Wanted(what, Path(find_links).resolve() if find_links else None, Path(sys.prefix))
    _does(lambda steps: bring_newer(steps, wanted), is_dry=is_dry, as_json=as_json)
