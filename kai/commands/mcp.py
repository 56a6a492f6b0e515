"""``kai mcp``: the stdio MCP server that an agent CLI starts inside its run."""

import click


@click.command()
def command() -> int:
    """For agent CLIs that kai has started: an MCP server on stdin and stdout."""
    from kai.commands import mcp_pump  # noqa: PLC0415 - as an agent starts it, nothing else of kai is loaded

    return mcp_pump.main()
