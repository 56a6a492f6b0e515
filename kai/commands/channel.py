"""``kai channel``."""

from pathlib import Path

import click

from kai.client import Client, View
from kai.commands import probing
from kai.commands.provisioning import as_root, dry_run_option, free, is_another, os_user_option, tell
from kai.commands.verb import Verb, verb
from kai.people.provision import Step

_COLUMNS = {
    "title": lambda channel: channel["title"],
    "kind": lambda channel: channel["kind"],
    "members": lambda channel: channel["member_names"],
    "os user": lambda channel: channel["os_user"],
    "running": lambda channel: channel["running"],
    "queued": lambda channel: channel["queued"],
    "id": lambda channel: channel["channel"],
}
_member_option = click.option("--member", "members", multiple=True, metavar="PERSON", help="A member; give it often.")


@click.group()
def command() -> None:
    """Channels: each a conversation with its members. C is a title or an id."""


@command.command("list")
@verb
def list_(how: Verb) -> None:
    """List the channels you are in; for an operator the shared ones as well."""
    how.rows(how.ask(lambda client: client.channels()), _COLUMNS, nothing="No channel yet.")


@command.command()
@click.argument("channel", metavar="C")
@verb
def show(how: Verb, channel: str) -> None:
    """Show one channel."""
    how.facts(how.ask(lambda client: client.channel(channel)))


@command.command()
@click.argument("title")
@os_user_option
@_member_option
@dry_run_option
@verb
def add(how: Verb, title: str, os_user: str, members: tuple[str, ...], dry_run: bool) -> int:
    """Make a shared channel with a seat of its own. Again, it adds members and mends what is missing."""
    other = is_another(how, os_user)
    provision = as_root(how, dry_run=dry_run) if other or dry_run else None

    async def make(client: Client) -> View:
        known = next((one for one in await client.channels() if _is_shared(one, title)), None)
        if other:
            await free(client, os_user, known["channel"] if known else "")
        if provision is not None and other:
            provision.user(os_user, title)
            provision.allow(os_user)
        if known is None:
            if provision is not None:
                provision.steps.append(Step("made", f"shared channel {title}"))
            return {"channel": "ID", "title": title} if dry_run else await client.add_channel(title, os_user, members)
        for member in () if dry_run else members:
            known = await client.member(known["channel"], member)
        return known

    found = how.ask(make)
    if provision is None:
        how.facts(found)
        return 0
    if other:
        provision.folders(found["channel"], os_user, shared=True)
        if not dry_run:
            found = how.ask(lambda client: client.change_channel(found["channel"], {"os_user": os_user}))
    last = f"{title} ({found['channel']}): its agents run as {os_user}."
    return tell(how, provision, found, last="Nothing was done: this was a dry run." if dry_run else last)


@command.command("set")
@click.argument("channel", metavar="C")
@click.option("--title", help="Another title.")
@click.option("--os-user", help="The OS user of its seat ('': the daemon's own).")
@verb
def set_(how: Verb, /, channel: str, **changes: str | None) -> int:
    """Change a shared channel; its backend, model and agent are chosen with 'kai use … --channel C'."""
    wanted = {field: value for field, value in changes.items() if value is not None}
    if not wanted:
        raise click.UsageError("Name something to change.")
    found = how.ask(lambda client: client.channel(channel))
    if (user := wanted.get("os_user")) and is_another(how, user):
        provision = as_root(how)
        how.ask(lambda client: free(client, user, found["channel"]))
        provision.user(user, found["title"])
        provision.allow(user)
        provision.folders(found["channel"], user, shared=True)
        return tell(how, provision, how.ask(lambda client: client.change_channel(found["channel"], wanted)))
    how.facts(how.ask(lambda client: client.change_channel(found["channel"], wanted)))
    return 0


@command.command()
@click.argument("channel", metavar="C")
@click.argument("person")
@verb
def join(how: Verb, channel: str, person: str) -> None:
    """Let PERSON into a shared channel: they see what is said from now on."""
    how.facts(how.ask(lambda client: client.member(channel, person)))


@command.command()
@click.argument("channel", metavar="C")
@click.argument("person")
@verb
def leave(how: Verb, channel: str, person: str) -> None:
    """Take PERSON out of a shared channel."""
    how.facts(how.ask(lambda client: client.member(channel, person, present=False)))


@command.command()
@click.argument("channel", metavar="C")
@click.argument("bridge")
@click.argument("chat")
@click.argument("thread", default="")
@verb
def bind(how: Verb, channel: str, bridge: str, chat: str, thread: str) -> None:
    """Let a group chat lead to a shared channel: CHAT (and THREAD) as BRIDGE names it."""
    how.facts(how.ask(lambda client: client.bind(channel, bridge, chat, thread)))


@command.command()
@click.argument("channel", metavar="C")
@verb
def probe(how: Verb, channel: str) -> int:
    """Look from inside the seat's OS user at what its agents can reach. Exit status 1 on any leak."""
    return probing.tell(how, how.ask(lambda client: client.probe_channel(channel)))


@command.command()
@click.argument("channel", metavar="C")
@click.argument("path")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Where to write it [default: its name].")
@verb
def fetch(how: Verb, channel: str, path: str, out: Path | None) -> None:
    """Fetch a file that an agent made: PATH below the workspace or the home of the channel's seat."""

    async def fetching(client: Client) -> tuple[View, bytes]:
        stored = await client.fetch(channel, path)
        return stored, await client.attachment(stored["ref"])

    stored, data = how.ask(fetching)
    target = out or Path(stored["name"])
    with target.open("xb") as file:  # never over something that is there
        file.write(data)
    how.lines({**stored, "out": str(target)}, [f"{target} ({len(data):,} bytes)"])


def _is_shared(channel: View, title: str) -> bool:
    return bool(channel["kind"] == "shared" and channel["title"].casefold() == title.casefold())
