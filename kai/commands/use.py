"""``kai use``."""

import click

from kai.commands.connect import FolderFlags, ask
from kai.commands.show import as_json_option, as_person_option, json_of
from kai.model.people import Preference
from kai.text.safe import safe


@click.command()
@click.argument("backend", default="")
@click.option("--model", default="", help="Model ('-': the default).")
@click.option("--effort", default="", help="Effort, where the backend has such ('-': the default).")
@click.option("--workspace", default="", help="A workspace of workspaces.yaml ('-': home).")
@click.option("--agent", default="", help="Agent definition ('-': the default).")
@click.option("--channel", default="", metavar="C", help="The conversation it is for [default: your own].")
@click.option("--wait", is_flag=True, help="Wait for the running turn instead of refusing.")
@as_person_option
@as_json_option
@click.pass_obj
def command(flags: FolderFlags, /, as_person: str, channel: str, wait: bool, as_json: bool, **choice: str) -> None:
    """Choose BACKEND ('-': the default), or what else is given, from the next message on."""
    if not any(choice.values()):
        raise click.UsageError("Name a backend, or one of --model --effort --workspace --agent.")
    wanted = Preference(**choice)
    found = ask(flags, as_person, lambda client: client.use(wanted, channel=channel, wait=wait))
    if as_json:
        json_of(found)
    else:
        click.echo(safe(found["sentence"]))
