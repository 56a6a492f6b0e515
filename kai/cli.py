"""The command ``kai``: names, lazy loading, and the one place where an error becomes a line on stderr.

Nothing heavy is imported before the command that needs it: ``kai --help`` has to be there at once.
"""

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

import kai
from kai.model.errors import errors_in

# Name, and what it does in one line: the list in ``kai --help`` needs no import of the commands themselves.
COMMANDS: dict[str, str] = {
    "init": "First run: find agent CLIs, write a commented config, make the first person.",
    "serve": "Run the daemon in the foreground.",
    "chat": "Talk to your agent; with TEXT, one message and its answer.",
    "status": "What runs and what waits.",
    "doctor": "Check this installation; every finding says what to do.",
    "check-config": "Check the configuration; every problem with its position.",
    "config": "Show the settings in force and where each comes from.",
    "reload": "Let the running daemon read its configuration again.",
    "person": "People: add, list, show, set, remove, link, probe.",
    "agent": "Agent definitions: list, show, set.",
    "backend": "Agent CLIs: list, show, check, login, new.",
    "backup": "Back up the database and the files of kai and its people.",
    "restore": "Put a backup in the place of the state, proven whole first.",
    "use": "Choose the agent CLI and model.",
    "turn": "Turns: list, show, stop, retry.",
    "context": "The exact text put before a message: preview, show, diff, verify.",
    "channel": "Channels: add, bind, fetch, join, leave, list, probe, set, show.",
    "history": "Messages: search, export.",
    "memory": "Remembered: add, search, list, show, correct, forget, history, grant, audit, export and more.",
    "system": "The service of this machine: install, upgrade, uninstall.",
    "tool": "For agents: call a tool of the run.",
    "mcp": "For agents: the tools of the run as an MCP server.",
    "egress": "For the service: call out to what egress.yaml lists.",
    "bench": "Measure kai, each figure beside its baseline.",
    "version": "Print the version.",
}


class LazyGroup(click.Group):
    """Loads ``kai.commands.<name>`` when its command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"kai.commands.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            meant = f"did you mean {near[0]!r}?" if near else "'kai --help' lists them."
            raise click.UsageError(f"There is no command {args[0]!r}; {meant}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--config", type=click.Path(), metavar="DIR", help="Configuration folder ($KAI_CONFIG).")
@click.option("--state", type=click.Path(), metavar="DIR", help="State folder ($KAI_STATE).")
@click.option("--runtime", type=click.Path(), metavar="DIR", help="Folder of the sockets ($KAI_RUNTIME).")
@click.version_option(kai.__version__, prog_name="kai")
@click.pass_context
def cli(ctx: click.Context, config: str | None, state: str | None, runtime: str | None) -> None:
    """Talk from your chat apps to the agent CLIs you already have.

    Every command that prints data takes --json. Exit status: 0 done, 1 a finding or failure, 2 wrong use.
    """
    ctx.obj = (config, state, runtime)


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run a command and leave with its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a sign shows a question mark, not a traceback
            stream.reconfigure(errors="replace")
    sys.exit(run(argv))


def run(argv: Sequence[str] | None = None) -> int:
    """The exit status of a command line; `argv` without the program's name, None for the process's own."""
    try:
        status: Any = cli.main(argv, prog_name="kai", standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        error.show()
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 1
    except Exception as error:
        if isinstance(error, BrokenPipeError) or (
            isinstance(error, ExceptionGroup) and error.subgroup(BrokenPipeError)
        ):
            # Whoever read our output has gone, as `head` does. Python would complain once more when it flushes.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        if found := errors_in(error):
            return _say(found[0].sentence, found[0].hint)
        while isinstance(error, ExceptionGroup):  # of what a task group wrapped, the first is the cause
            error = error.exceptions[0]
        if isinstance(error, OSError) and error.strerror and not os.environ.get("KAI_DEBUG"):
            return _say(f"{error.filename or 'the system'}: {error.strerror}.", "")
        if os.environ.get("KAI_DEBUG"):
            raise
        return _say(f"{type(error).__name__}: {error}", "This is a fault of kai; KAI_DEBUG=1 shows where it happened.")
    return status if isinstance(status, int) else 0


def _say(sentence: str, hint: str) -> int:
    click.echo(f"kai: {sentence}", err=True)
    if hint:
        click.echo(f"     {hint}", err=True)
    return 1
