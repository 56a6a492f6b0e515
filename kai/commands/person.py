"""``kai person``."""

import click

from kai.commands.connect import FolderFlags, ask
from kai.commands.show import as_json_option, facts, rows

_COLUMNS = {
    "name": lambda person: person["name"],
    "os user": lambda person: person["os_user"],
    "zone": lambda person: person["zone"],
    "email": lambda person: person["email"],
    "id": lambda person: person["principal"],
}


@click.group()
def command() -> None:
    """The people kai knows. NAME may also be a person's id."""


@command.command()
@click.argument("name")
@click.option("--os-user", default="", metavar="USER", help="The OS user their agents run as [default: the daemon's].")
@as_json_option
@click.pass_obj
def add(flags: FolderFlags, name: str, os_user: str, as_json: bool) -> None:
    """Add a person, with a private channel and folders."""
    facts(ask(flags, "", lambda client: client.add_person(name, os_user)), as_json=as_json)


@command.command("list")
@as_json_option
@click.pass_obj
def list_(flags: FolderFlags, as_json: bool) -> None:
    """List the people you may see."""
    rows(ask(flags, "", lambda client: client.people()), _COLUMNS, as_json=as_json, nothing="kai knows nobody yet.")


@command.command()
@click.argument("name")
@as_json_option
@click.pass_obj
def show(flags: FolderFlags, name: str, as_json: bool) -> None:
    """Show one person."""
    facts(ask(flags, "", lambda client: client.person(name)), as_json=as_json)


@command.command("set")
@click.argument("name")
@click.option("--name", "new_name", help="Another name.")
@click.option("--os-user", help="The OS user their agents run as.")
@click.option("--zone", help="Time zone, such as Europe/Berlin.")
@click.option("--email", help="Address, as agents may be told.")
@click.option(
    "--permissions", type=click.Choice(["ask", "bypass", ""]), help="Whether agents ask ('': as set for all)."
)
@as_json_option
@click.pass_obj
def set_(flags: FolderFlags, /, name: str, new_name: str | None, as_json: bool, **changes: str | None) -> None:
    """Change what is given; an empty text clears it."""
    wanted = {field: value for field, value in {"name": new_name, **changes}.items() if value is not None}
    if not wanted:
        raise click.UsageError("Name something to change.")
    facts(ask(flags, "", lambda client: client.change_person(name, wanted)), as_json=as_json)


@command.command()
@click.argument("name")
@as_json_option
@click.pass_obj
def remove(flags: FolderFlags, name: str, as_json: bool) -> None:
    """Remove a person; what they said stays in their channels."""
    facts(ask(flags, "", lambda client: client.remove_person(name)), as_json=as_json)


@command.command()
@click.argument("name")
@click.argument("bridge")
@click.argument("account")
@as_json_option
@click.pass_obj
def link(flags: FolderFlags, name: str, bridge: str, account: str, as_json: bool) -> None:
    """Say that ACCOUNT of BRIDGE belongs to a person, as you have verified."""
    facts(ask(flags, "", lambda client: client.link(name, bridge, account)), as_json=as_json)
