"""Codex's side of the talk with its driver."""

import json
from typing import Any

from kai.model.backends import ProtocolName
from kai.protocols.app_server import AppServer
from kai.protocols.driver import DriverSetup, McpServer, Output, Send, Wake
from tests.protocols.agents import manifest, prompt

IN_FORCE = {
    "model": "m",
    "modelProvider": "p",
    "approvalPolicy": "on-request",
    "sandbox": {"type": "readOnly", "networkAccess": False},
    "reasoningEffort": None,
}


class Codex:
    """A driver, and Codex's side of the talk."""

    def __init__(self, *, resume: str = "", open_it: bool = True, servers: bool = False, **options: Any) -> None:
        names = ("model", "effort", "permissions", "temporary")
        more: Any = {name: options.pop(name) for name in names if name in options}
        if servers:
            more["mcp_servers"] = (McpServer("kai", "/bin/kai", ("mcp",), (("A", "b"),), ("look",)),)
        self.driver = AppServer(DriverSetup(manifest(ProtocolName.APP_SERVER, **options), "/cwd", **more))
        self.sent: list[Any] = []
        self.wakes: list[Wake] = []
        self.keep(self.driver.start(resume))
        self.turn = ""
        if open_it:
            self.reply({"userAgent": "kai/1.2.3 (Debian)"})
            self.reply({"account": None, "requiresOpenaiAuth": False})
            self.ready = self.reply({"thread": {"id": "th"}, **IN_FORCE})

    def keep(self, outputs: Any) -> list[Output]:
        self.sent += [json.loads(output.frame) for output in outputs if isinstance(output, Send)]
        self.wakes += [output for output in outputs if isinstance(output, Wake)]
        return [output for output in outputs if not isinstance(output, Send | Wake)]

    @property
    def last(self) -> Any:
        return self.sent[-1]

    def out(self, **msg: Any) -> list[Output]:
        return self.keep(self.driver.feed(json.dumps(msg).encode()))

    def reply(self, result: Any) -> list[Output]:
        return self.out(id=self.last["id"], result=result)

    def fail(self, code: int, message: str, **data: Any) -> list[Output]:
        return self.out(id=self.last["id"], error={"code": code, "message": message, "data": data})

    def ask(self, text: str = "words", number: int = 1, *, begin: bool = True) -> list[Output]:
        """A prompt, which Codex takes and begins."""
        out = self.keep(self.driver.prompt(prompt(text, number)))
        if begin:
            self.turn = f"t{number}"
            out += self.reply({"turn": {"id": self.turn}}) + self.tell("turn/started", turn={"id": self.turn})
        return out

    def tell(self, method: str, **params: Any) -> list[Output]:
        where = {} if "turn" in params else {"turnId": self.turn}
        return self.out(method=method, params={"threadId": "th", **where, **params})

    def item(self, what: str, kind: str, key: str = "i", **fields: Any) -> list[Output]:
        return self.tell(f"item/{what}", item={"type": kind, "id": key, **fields})

    def delta(self, text: str, key: str = "m1") -> list[Output]:
        return self.tell("item/agentMessage/delta", itemId=key, delta=text)

    def say(self, text: str, key: str = "m1") -> list[Output]:
        return self.item("completed", "agentMessage", key, text=text)

    def error(self, message: str, *, retry: bool = True, info: Any = "other", more: str = "") -> list[Output]:
        error = {"message": message, "codexErrorInfo": info, "additionalDetails": more or None}
        return self.tell("error", error=error, willRetry=retry)

    def end(self, status: str = "completed", *, turn: str = "", **error: Any) -> list[Output]:
        return self.tell(
            "turn/completed", turn={"id": turn or self.turn, "status": status, "error": error or None, "items": []}
        )


def only(outputs: list[Output]) -> Any:
    (output,) = outputs
    return output
