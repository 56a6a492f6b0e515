"""``kai use``."""

import click

from kai.commands.verb import Verb, verb
from kai.model.people import Preference


@click.command()
@click.argument("backend", default="")
@click.option("--model", default="", help="Model ('-': the default).")
@click.option("--effort", default="", help="Effort, where the backend has such ('-': the default).")
@click.option("--workspace", default="", help="A workspace of workspaces.yaml ('-': home).")
@click.option("--agent", default="", help="Agent definition ('-': the default).")
@click.option("--temporary", type=click.Choice(["on", "off"]), help="Keep nothing of what is said.")
@click.option("--channel", default="", metavar="C", help="The channel it is for [default: your own].")
@click.option("--wait", is_flag=True, help="Wait for the running turn instead of refusing.")
@verb
def command(how: Verb, /, channel: str, wait: bool, temporary: str | None, **choice: str) -> None:
    """Choose BACKEND ('-': the default), or what else is given, from the next message on; bare, say what is in use."""
    found = how.ask(
        lambda client: client.use(Preference(**choice), channel=channel, wait=wait, temporary=temporary or "")
    )
    how.lines(found, [found["sentence"]])
