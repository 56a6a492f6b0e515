"""The thread that a Codex session works in: what is asked for, and whether that is in force."""

from typing import Any

from kai.model.errors import FailureKind
from kai.protocols.driver import DriverSetup, Lost
from kai.wire.values import Json, record, text

# What is asked before it is done: whatever changes something. Policy, sandbox as it is asked for and as it is told.
_ASK = ("on-request", "read-only", "readOnly")
_BYPASS = ("never", "danger-full-access", "dangerFullAccess")


def thread_params(setup: DriverSetup, resume: str, *, waits: bool = True) -> Json:
    """What goes along with ``thread/start``, or with ``thread/resume`` of the thread `resume`.

    `waits`: it is answered once the MCP servers are up, with an error when one does not come.
    """
    policy, sandbox, _ = _permissions(setup)
    config: dict[str, Any] = {"model_reasoning_effort": setup.effort} if setup.effort else {}
    if setup.mcp_servers:
        config["mcp_servers"] = {
            server.name: {
                "command": server.command,
                "args": list(server.args),
                "env": dict(server.env),
                "default_tools_approval_mode": "approve" if setup.permissions == "bypass" else "prompt",
                "required": waits,
                "tools": {name: {"approval_mode": "approve"} for name in server.unasked},
            }
            for server in setup.mcp_servers
        }
    params: dict[str, Any] = {"cwd": setup.cwd, "approvalPolicy": policy, "sandbox": sandbox}
    params |= {"model": setup.model} if setup.model else {}
    params |= {"modelProvider": provider} if (provider := setup.option("model_provider")) else {}
    params |= {"config": config} if config else {}
    return params | ({"threadId": resume, "excludeTurns": True} if resume else {"ephemeral": setup.temporary})


def difference(setup: DriverSetup, answer: Json) -> Lost | None:
    """Another provider, model or sandbox than the one asked for is another agent than the person chose."""
    policy, _, sandbox = _permissions(setup)
    for what, wanted, got in (
        ("approval policy", policy, text(answer.get("approvalPolicy"))),
        ("sandbox", sandbox, text(record(answer.get("sandbox")).get("type"))),
        ("model provider", setup.option("model_provider"), text(answer.get("modelProvider"))),
        ("model", setup.model, text(answer.get("model"))),
        ("effort", setup.effort, text(answer.get("reasoningEffort"))),
    ):
        if wanted and got != wanted:
            kind = FailureKind.MODEL if what == "model" else FailureKind.UNSUPPORTED
            return Lost(f"Codex was to work with {what} {wanted!r}; its settings make that {got or 'another'!r}.", kind)
    return None


def _permissions(setup: DriverSetup) -> tuple[str, str, str]:
    return _BYPASS if setup.permissions == "bypass" else _ASK
