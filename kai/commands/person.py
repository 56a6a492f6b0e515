"""``kai person``."""

import os
import pwd

import click

from kai.client import Client, View
from kai.commands import probing
from kai.commands.provisioning import as_root, dry_run_option, free, is_another, os_user_option, tell
from kai.commands.verb import Verb, verb
from kai.model.errors import DeniedError
from kai.people.provision import Step

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
@os_user_option
@dry_run_option
@verb
def add(how: Verb, name: str, os_user: str, dry_run: bool) -> int:
    """Add a person, with a private channel, folders and, as root, an OS user. Again, it mends what is missing."""
    if not is_another(how, os_user):
        if dry_run:
            raise click.UsageError("--dry-run is for an OS user of their own: without one, nothing is made as root.")
        how.facts(how.ask(lambda client: client.add_person(name, os_user)))
        return 0
    provision = as_root(how, dry_run=dry_run)

    async def find(client: Client) -> View | None:
        known = next((one for one in await client.people() if one["name"].casefold() == name.casefold()), None)
        await free(client, os_user, known["principal"] if known else "")
        return known

    known = how.ask(find)
    provision.user(os_user, name)
    provision.allow(os_user)
    if known is None:
        provision.steps.append(Step("made", f"person {name}"))
    if dry_run:
        found: View = known or {"principal": "(its id)", "name": name, "os_user": os_user}
        provision.folders(known["principal"] if known else "ID", os_user)
        return tell(how, provision, found, last="Nothing was done: this was a dry run.")
    found = known or how.ask(lambda client: client.add_person(name, os_user))
    provision.folders(found["principal"], os_user, legacy=found.get("legacy_chat_id", ""))
    # Said again now that the folders are there: the daemon lets the first files be written as their owner.
    found = how.ask(lambda client: client.change_person(found["principal"], {"os_user": os_user}))
    return tell(how, provision, found, last=f"{found['name']} ({found['principal']}): their agents run as {os_user}.")


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
@click.option("--delete-os-user", is_flag=True, help="Their OS user as well, if kai made it; as root.")
@dry_run_option
@verb
def remove(how: Verb, name: str, yes: bool, delete_os_user: bool, dry_run: bool) -> None:
    """Remove a person: sessions end, accounts and what is owed go; messages and files are kept."""

    async def look(client: Client) -> tuple[View, str]:
        everybody, me = await client.people(), pwd.getpwuid(os.geteuid()).pw_name
        who = await client.person(name)
        is_last = [one["principal"] for one in everybody if one["os_user"] == me] == [who["principal"]]
        why = "is yourself" if who["is_you"] else f"is the last person with your OS user {me!r}" if is_last else ""
        return who, why

    who, why = how.ask(look)
    if why and not yes:
        raise DeniedError(f"{who['name']} {why}", "With --yes it is done all the same.")
    other = is_another(how, who["os_user"])
    provision = as_root(how, dry_run=dry_run) if (other and (delete_os_user or os.geteuid() == 0)) or dry_run else None
    kept = f"Removed {who['name']}; their messages and files are kept."
    if provision is None:
        how.lines(how.ask(lambda client: client.remove_person(who["principal"])), [kept])
        return
    gone = "person {name}: sessions, accounts, memberships and what is owed to them"
    provision.steps.append(Step("removed", gone.format(name=who["name"])))
    if not dry_run:
        how.ask(lambda client: client.remove_person(who["principal"]))
    provision.steps += [
        Step("kept", "their messages"),
        Step("kept", f"their files: {who['home']} …"),
    ]
    if other:
        provision.allow(who["os_user"], allowed=False)
    if other and delete_os_user:
        provision.take_away(who["os_user"], (who["principal"], who["legacy_chat_id"]))
    elif other:
        provision.steps.append(Step("kept", f"OS user {who['os_user']} (--delete-os-user removes it, if kai made it)"))
    tell(how, provision, who, last="Nothing was done: this was a dry run." if dry_run else kept)


@command.command()
@click.argument("name", metavar="PERSON")
@verb
def probe(how: Verb, name: str) -> int:
    """Look from inside a person's OS user at what their agents can reach. Exit status 1 on any leak."""
    return probing.tell(how, how.ask(lambda client: client.probe_person(name)))


@command.command()
@click.argument("name", metavar="PERSON")
@click.argument("bridge")
@click.argument("account")
@verb
def link(how: Verb, name: str, bridge: str, account: str) -> None:
    """Say that ACCOUNT of BRIDGE belongs to PERSON, as you have verified."""
    how.facts(how.ask(lambda client: client.link(name, bridge, account)))
