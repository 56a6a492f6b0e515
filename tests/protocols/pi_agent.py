"""Pi's side of the talk, for the tests of its driver."""

import json
from typing import Any

from kai.model.backends import ProtocolName
from kai.model.events import TextDelta
from kai.protocols.driver import Lost, Output, Ready, Send, Wake
from kai.protocols.pi_rpc import PiRpc
from tests.protocols.agents import prompt, setup

MODEL = {"id": "opus-4", "name": "Opus 4", "provider": "acme", "contextWindow": 1000}
STATE = {"model": MODEL, "thinkingLevel": "medium", "sessionId": "s-1", "messageCount": 2}


class Pi:
    """A driver, and Pi's side of the talk."""

    def __init__(self, *, resume: str = "", ready: bool = True, **chosen: str) -> None:
        self.driver = PiRpc(setup(ProtocolName.PI_RPC, "/", **chosen))
        self.sent = self.frames(list(self.driver.start(resume)))
        self.id = ""
        if ready:
            self.status("kai.version", "1.6.0")
            self.status("kai.gate", "on")
            assert self.answers("kai-1") == []
            assert self.state() == [Ready("s-1", bool(resume), "1.6.0", "acme/opus-4")]

    def out(self, kind: str, **msg: Any) -> list[Output]:
        return list(self.driver.feed(json.dumps({"type": kind, **msg}).encode()))

    def frames(self, outputs: list[Output]) -> list[dict[str, Any]]:
        return [json.loads(output.frame) for output in outputs if isinstance(output, Send)]

    def answers(self, key: str, **more: Any) -> list[Output]:
        return self.out("response", id=key, **{"success": True, **more})

    def status(self, key: str, value: str) -> list[Output]:
        return self.out("extension_ui_request", id="u", method="setStatus", statusKey=key, statusText=value)

    def state(self, **changed: Any) -> list[Output]:
        return self.answers("kai-2", data={**STATE, **changed})

    def ask(self, text: str = "words", *, disposition: str = "started", begin: bool = True) -> list[Output]:
        wake, send = self.driver.prompt(prompt(text))
        assert isinstance(wake, Wake)
        self.id = self.frames([send])[0]["id"]
        return self.answers(self.id, data={"disposition": disposition}) if begin else []

    def delta(self, text: str, kind: str = "text_delta", index: int = 0) -> list[Output]:
        return self.out("message_update", assistantMessageEvent={"type": kind, "contentIndex": index, "delta": text})

    def message(self, *texts: str, reason: str = "stop", **more: Any) -> list[Output]:
        content = [{"type": "text", "text": text} for text in texts]
        return self.out("message_end", message={"role": "assistant", "content": content, "stopReason": reason, **more})

    def settled(self, *, aborted: bool = False) -> list[Output]:
        return self.out("agent_settled", aborted=aborted)

    def retry(self, error: str = '503: {"message":"overloaded"}') -> list[Output]:
        self.out("agent_end", willRetry=True)
        return self.out("auto_retry_start", attempt=1, maxAttempts=3, delayMs=2000, errorMessage=error)


def said(outputs: list[Output]) -> str:
    return "".join(output.text for output in outputs if isinstance(output, TextDelta))


def lost(outputs: list[Output]) -> Lost:
    (only,) = outputs
    assert isinstance(only, Lost), outputs
    return only
