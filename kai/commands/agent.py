"""``kai agent``."""

import click

from kai.client import View
from kai.commands.verb import Verb, verb
from kai.model.people import Preference

_COLUMNS = {
    "agent": lambda one: one["agent"],
    "revision": lambda one: one["revision"],
    "skills": lambda one: one["skills"],
    "purpose": lambda one: one["purpose"],
}


@click.group()
def command() -> None:
    """Agent definitions: what an agent is for and how it should behave; files in agents/ of the configuration."""


@command.command("list")
@verb
def list_(how: Verb) -> None:
    """List the definitions that are in force."""
    how.rows(how.ask(lambda client: client.agents()), _COLUMNS, nothing="No agent definition.")


@command.command()
@click.argument("agent")
@click.option("--revision", default="", help="As it read in that version.")
@verb
def show(how: Verb, agent: str, revision: str) -> None:
    """Show what AGENT reads, and which versions of it there were."""
    found = how.ask(lambda client: client.agent(agent, revision=revision))
    how.lines(found, _lines(found))


@command.command("set")
@click.argument("agent")
@click.option("--channel", default="", metavar="C", help="The channel it is for [default: your own].")
@click.option("--wait", is_flag=True, help="Wait for the running turn instead of refusing.")
@verb
def set_(how: Verb, agent: str, channel: str, wait: bool) -> None:
    """Talk to AGENT ('-': the default) from the next message on."""
    found = how.ask(lambda client: client.use(Preference(agent=agent), channel=channel, wait=wait))
    how.lines(found, [found["sentence"]])


def _lines(found: View) -> list[str]:
    is_now = "in force" if found["in_force"] else "not in force any more"
    lines = [f"{found['name']}, revision {found['revision']} ({is_now})", f"Purpose: {found['purpose']}"]
    lines += found["instructions"].splitlines()
    for name in ("capabilities", "aliases"):
        lines += [f"{name.capitalize()}: {', '.join(found[name])}"] if found[name] else []
    memory = ", ".join(f"{name} {value}" for name, value in found["memory"].items())
    lines.append(f"Memory: {memory}")
    for skill in found["skills"]:
        lines += ["", f"Skill {skill['name']}: {skill['summary']}", *skill["body"].splitlines()]
    versions = [
        f"  {one['revision']}  first seen {one['seen_at'][:19].replace('T', ' ')} UTC" for one in found["versions"]
    ]
    return [*lines, "", "Versions, the newest first:", *versions]
