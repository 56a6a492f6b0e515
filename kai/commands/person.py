"""``kai person``."""

import os
import pwd

import click

from kai.client import Client, View
from kai.commands.verb import Verb, verb
from kai.model.errors import DeniedError

_COLUMNS = {
    "name": lambda person: person["name"],
    "os user": lambda person: person["os_user"],
    "zone": lambda person: person["zone"],
    "email": lambda person: person["email"],
    "id": lambda person: person["principal"],
}


@click.group()
def command() -> None:
    """The people kai knows. PERSON is a name or an id."""


@command.command()
@click.argument("name")
@click.option("--os-user", default="", metavar="USER", help="The OS user their agents run as [default: the daemon's].")
@verb
def add(how: Verb, name: str, os_user: str) -> None:
    """Add a person, with a private channel and folders."""
    how.facts(how.ask(lambda client: client.add_person(name, os_user)))


@command.command("list")
@verb
def list_(how: Verb) -> None:
    """List the people you may see."""
    how.rows(how.ask(lambda client: client.people()), _COLUMNS, nothing="kai knows nobody yet.")


@command.command()
@click.argument("name", metavar="PERSON")
@verb
def show(how: Verb, name: str) -> None:
    """Show one person."""
    how.facts(how.ask(lambda client: client.person(name)))


@command.command("set")
@click.argument("who", metavar="PERSON")
@click.option("--name", help="Another name.")
@click.option("--os-user", help="The OS user their agents run as.")
@click.option("--zone", help="Time zone, such as Europe/Berlin.")
@click.option("--email", help="Address, as agents may be told.")
@click.option(
    "--permissions", type=click.Choice(["ask", "bypass", ""]), help="Whether agents ask ('': as set for all)."
)
@verb
def set_(how: Verb, /, who: str, **changes: str | None) -> None:
    """Change what is given; an empty text clears it."""
    wanted = {field: value for field, value in changes.items() if value is not None}
    if not wanted:
        raise click.UsageError("Name something to change.")
    how.facts(how.ask(lambda client: client.change_person(who, wanted)))


@command.command()
@click.argument("name", metavar="PERSON")
@click.option("--yes", is_flag=True, help="Even yourself, or the last person of your OS user.")
@verb
def remove(how: Verb, name: str, yes: bool) -> None:
    """Remove a person: their sessions end and nothing is owed to them; messages and files are kept."""

    async def removing(client: Client) -> View:
        everybody, me = await client.people(), pwd.getpwuid(os.geteuid()).pw_name
        who = await client.person(name)
        is_last = [one["principal"] for one in everybody if one["os_user"] == me] == [who["principal"]]
        if not yes and (who["is_you"] or is_last):
            why = "is yourself" if who["is_you"] else f"is the last person with your OS user {me!r}"
            raise DeniedError(f"{who['name']} {why}", "With --yes it is done all the same.")
        return await client.remove_person(who["principal"])

    found = how.ask(removing)
    how.lines(found, [f"Removed {found['name']}; their messages and files are kept."])


@command.command()
@click.argument("name", metavar="PERSON")
@click.argument("bridge")
@click.argument("account")
@verb
def link(how: Verb, name: str, bridge: str, account: str) -> None:
    """Say that ACCOUNT of BRIDGE belongs to PERSON, as you have verified."""
    how.facts(how.ask(lambda client: client.link(name, bridge, account)))
