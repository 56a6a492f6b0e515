"""``kai tool``: what an agent may call, from inside its run."""

import json
import os
import socket
import sys
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from kai.catalog.tools import TOOLS, Argument, Tool
from kai.model.errors import ApiError, UnreachableError

SOCKET = "KAI_SOCKET"
RUN_FILE = "KAI_RUN_FILE"
_WAIT_S = 60.0


class Tools(click.Group):
    """One command a row of the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [tool.name for tool in TOOLS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        tool = next((one for one in TOOLS if one.name == cmd_name.replace("-", "_")), None)
        return None if tool is None else _command(tool)


@click.group(cls=Tools)
def command() -> None:
    """For agents that kai has started: call a tool of this run; the answer is JSON."""


def _command(tool: Tool) -> click.Command:
    def call(**given: Any) -> None:
        words = " ".join(given.pop("words", ()))
        arguments = {name: value for name, value in given.items() if value is not None}
        if words:
            arguments[tool.arguments[0].name] = sys.stdin.read() if words == "-" else words
        waits = [given.get(one.name) or one.default for one in tool.arguments if one.name == "seconds"]
        wait_s = _WAIT_S + sum(int(one or 0) for one in waits)
        answer = ask("POST", f"/v1/tools/{quote(tool.name)}", arguments, wait_s=wait_s)
        click.echo(json.dumps(answer, indent=1, ensure_ascii=True))

    params: list[click.Parameter] = [_option(one) for one in tool.arguments]
    if tool.arguments and tool.arguments[0].kind == "text":
        params.append(click.Argument(["words"], nargs=-1, metavar=f"[{tool.arguments[0].name.upper()} or -]"))
    return click.Command(tool.name, callback=call, params=params, help=f"{tool.summary[:1].upper()}{tool.summary[1:]}.")


def _option(argument: Argument) -> click.Option:
    kind = click.STRING if argument.kind == "text" else click.INT
    return click.Option(
        [f"--{argument.name}"], type=kind, help=f"{argument.summary[:1].upper()}{argument.summary[1:]}."
    )


class _Connection(HTTPConnection):
    """Standard library only: an agent waits for each call, and most HTTP clients take longer to load than to answer."""

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.host)


def ask(method: str, path: str, body: Mapping[str, Any], *, wait_s: float = _WAIT_S) -> Any:
    """The daemon's answer to this run, within `wait_s` seconds.

    Raises `ApiError` for a refusal, `UnreachableError` when none came.
    """
    where = os.environ.get(SOCKET, "")
    if not where:
        raise UnreachableError("kai", f"{SOCKET} is not set: this is for agents that kai has started")
    connection = _Connection(where, timeout=wait_s)
    headers = {"content-type": "application/json", "host": "kai", **_bearer()}
    try:
        connection.request(method, path, json.dumps(body), headers)
        answer = connection.getresponse()
        said = json.loads(answer.read() or b"null")
    except (OSError, HTTPException, ValueError) as error:
        raise UnreachableError(where, str(error) or type(error).__name__) from error
    finally:
        connection.close()
    if answer.status >= 400:
        problem = said if isinstance(said, dict) else {}
        title, detail, field, hint = (str(problem.get(name, "")) for name in ("title", "detail", "field", "hint"))
        raise ApiError(answer.status, title, detail, field, hint)
    return said


def _bearer() -> dict[str, str]:
    """The run's token, when there is one: it travels in a header, and in nothing that others can see."""
    try:
        return {"authorization": f"Bearer {Path(os.environ[RUN_FILE]).read_text().strip()}"}
    except (KeyError, OSError):
        return {}
