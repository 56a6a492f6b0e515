"""The agent's side of the talk with an ACP driver."""

import json
from dataclasses import replace
from typing import Any

from kai.model.backends import ProtocolName
from kai.model.events import (
    Failed,
)
from kai.protocols.acp import Acp
from kai.protocols.driver import DriverSetup, McpServer, Output, Send
from tests.protocols.agents import manifest, prompt

INFO = {"agentCapabilities": {"loadSession": True}, "agentInfo": {"name": "a", "version": "1"}}


class Agent:
    """A driver, and the agent's side of the talk."""

    def __init__(self, *, resume: str = "", open_it: bool = True, quirks: tuple[str, ...] = (), **options: str) -> None:
        more: Any = {name: options.pop(name) for name in ("model", "effort", "permissions") if name in options}
        made = replace(manifest(ProtocolName.ACP, **options), quirks=quirks)
        self.driver = Acp(DriverSetup(made, "/cwd", mcp_servers=(McpServer("kai", "/bin/kai", ("mcp",)),), **more))
        self.sent: list[Any] = []
        self.keep(self.driver.start(resume))
        self.prompt_id = 0
        if open_it:
            self.reply({**INFO, "authMethods": [{"id": "key"}]})
            if self.last["method"] == "authenticate":
                self.reply({})
            self.ready = self.reply({"sessionId": "s-1"})
            if resume:
                self.ready = self.keep(self.driver.wake("replayed"))

    def keep(self, outputs: Any) -> list[Output]:
        self.sent += [json.loads(output.frame) for output in outputs if isinstance(output, Send)]
        return [output for output in outputs if not isinstance(output, Send)]

    @property
    def last(self) -> Any:
        return self.sent[-1]

    def out(self, **msg: Any) -> list[Output]:
        return self.keep(self.driver.feed(json.dumps({"jsonrpc": "2.0", **msg}).encode()))

    def reply(self, result: Any, key: Any = None) -> list[Output]:
        return self.out(id=self.last["id"] if key is None else key, result=result)

    def fail(self, code: int, message: str, data: Any = None, key: Any = None) -> list[Output]:
        error = {"code": code, "message": message, "data": data}
        return self.out(id=self.last["id"] if key is None else key, error=error)

    def ask(self, text: str = "words", number: int = 1) -> list[Output]:
        outputs = self.keep(self.driver.prompt(prompt(text, number)))
        self.prompt_id = self.last["id"]
        return outputs

    def update(self, what: str, **fields: Any) -> list[Output]:
        return self.out(
            method="session/update", params={"sessionId": "s-1", "update": {"sessionUpdate": what, **fields}}
        )

    def chunk(self, text: str, **more: Any) -> list[Output]:
        return self.update("agent_message_chunk", content={"type": "text", "text": text}, **more)

    def end(self, reason: str = "end_turn", **more: Any) -> list[Output]:
        return self.reply({"stopReason": reason, **more}, self.prompt_id)


def only(outputs: list[Output]) -> Any:
    (output,) = outputs
    return output


def failed(outputs: list[Output]) -> Failed:
    end = outputs[-1]
    assert isinstance(end, Failed)
    return end
