"""The face of Pi: its RPC mode, with kai's gate in place."""

import json
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fake_agent.agent import Agent

USED = {"input": 7, "output": 3, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 10, "cost": {"total": 0.5}}
ANSWERS = {"once": "allowed", "always": "always", "deny": ""}


class PiRpc:
    """Pi's face."""

    def __init__(self, agent: "Agent") -> None:
        self.agent = agent
        self.ids = True  # it names no messages at all

    def start(self) -> None:
        """What extensions say comes before any answer. A session that is not there is begun anew, as it does it."""
        self.agent.session = self.agent.resume or self.agent.session
        self.dialog("setStatus", statusKey="kai.version", statusText="9.9.9")
        self.dialog("setStatus", statusKey="kai.gate", statusText="on")

    def take(self, msg: dict[str, Any]) -> None:
        match msg["type"]:
            case "prompt":
                self.agent.prompted(msg["id"], msg["message"])
            case "extension_ui_response":
                self.agent.answers.put((msg["id"], msg))
            case "get_state":
                self.respond(msg, self.state())
            case "steer":
                self.respond(msg, {})
                self.agent.heard.put(msg["message"])
            case "set_model" if msg["modelId"] == "deaf":
                pass
            case "set_model" if msg["modelId"] != "refused":
                self.agent.model = msg["modelId"]
                self.respond(msg, {})
            case "set_thinking_level":
                self.agent.effort = msg["level"]
                self.respond(msg, None)
            case "abort" | "clear_queue":
                self.respond(msg, {})
                if msg["type"] == "abort":
                    self.agent.interrupt()
            case other:
                self.agent.wire.send(
                    {"id": msg.get("id"), "type": "response", "command": other, "success": False, "error": "Unknown"}
                )

    def respond(self, msg: dict[str, Any], data: Any) -> None:
        self.agent.wire.send(
            {"id": msg["id"], "type": "response", "command": msg["type"], "success": True, "data": data}
        )

    def state(self) -> dict[str, Any]:
        name = "unknown" if self.agent.start_error else self.agent.model
        model = {"id": name, "name": name, "provider": "fake", "contextWindow": 1000}
        count = 2 if self.agent.resume and self.agent.known else 0
        return {
            "model": model,
            "thinkingLevel": self.agent.effort or "off",
            "sessionId": self.agent.session,
            "messageCount": count,
        }

    def send(self, kind: str, **fields: Any) -> None:
        self.agent.wire.send({"type": kind, **fields})

    def dialog(self, method: str, **fields: Any) -> str:
        key = str(uuid.uuid4())
        self.send("extension_ui_request", id=key, method=method, **fields)
        return key

    def begin(self, key: str) -> None:
        self.respond({"id": key, "type": "prompt"}, {"disposition": "started"})
        self.send("agent_start")

    def say(self, text: str) -> None:
        if not self.agent.said:
            self.send("message_start", message={"role": "assistant", "content": [], "stopReason": "pending"})
        self.agent.wire.send(self.piece(text))

    def piece(self, text: str) -> Any:
        return self.update({"type": "text_delta", "contentIndex": 0, "delta": text})

    def update(self, event: dict[str, Any]) -> Any:
        return {"type": "message_update", "usage": USED, "assistantMessageEvent": event}

    def message(self, text: str, reason: str = "stop", **fields: Any) -> None:
        content = [{"type": "text", "text": text}] if text else []
        message = {"role": "assistant", "content": content, "stopReason": reason, "usage": USED, **fields}
        self.send("message_end", message=message)

    def close_message(self, reason: str = "stop", **fields: Any) -> None:
        """The whole text comes after its deltas."""
        if self.agent.said or fields:
            self.message(self.agent.said, reason, **fields)
            self.agent.said = ""

    def think(self, text: str) -> None:
        self.agent.wire.send(self.update({"type": "thinking_delta", "contentIndex": 1, "delta": text}))

    def tool(self, key: str, name: str, arguments: Any) -> None:
        self.close_message("toolUse")
        self.send("tool_execution_start", toolCallId=key, toolName=name, args=arguments)
        self.send("tool_execution_update", toolCallId=key, toolName=name, partialResult={"content": []})

    def tool_result(self, key: str, ok: bool, text: str) -> None:
        result = {"content": [{"type": "text", "text": text}]}
        self.send("tool_execution_end", toolCallId=key, result=result, isError=not ok)

    def ask(self, key: str, name: str, arguments: Any) -> str:
        if name == "question":
            return self.dialog("select", **arguments)
        title = json.dumps({"kai.gate": {"tool": name, "id": key, "input": arguments}})
        return self.dialog("select", title=title, options=["once", "always", "deny"])

    def withdraw(self, request: str) -> None:
        """It goes on by itself, and does not say so."""

    def verdict(self, answer: Any) -> str:
        said: str = answer.get("value", "")
        return ANSWERS.get(said, said)

    def question(self) -> tuple[str, Any]:
        return "question", {"title": "Which colour?", "options": ["Red", "Blue"]}

    def end(self, text: str, *, stopped: bool = False, turns: int = 1) -> None:
        if stopped:
            self.close_message("aborted", errorMessage="This operation was aborted")
        elif text:
            self.close_message()
        else:
            self.message("")
        self.settle(aborted=stopped)

    def settle(self, *, aborted: bool = False) -> None:
        self.send("agent_end", messages=[], willRetry=False)
        self.send("agent_settled", aborted=aborted)

    def fail(self, status: int, code: str, text: str) -> None:
        self.close_message("error", errorMessage=f"{status}: {json.dumps({'message': text, 'code': code})}")
        self.settle()

    def error_text(self, text: str) -> None:
        self.agent.say(text)

    def retry(self, attempt: int, of: int) -> None:
        error = '503: {"message":"overloaded"}'
        self.close_message("error", errorMessage=error)
        self.send("agent_end", messages=[], willRetry=True)
        self.send("auto_retry_start", attempt=attempt, maxAttempts=of, delayMs=10, errorMessage=error)
        self.send("agent_start")

    def late(self, text: str) -> None:
        self.message(text)

    def unsolicited(self, text: str) -> None:
        self.send("agent_start")
        self.agent.wire.send(self.piece(text))
        self.message(text)
        self.settle()

    def unknown(self) -> None:
        self.send("banana", message=None)
        self.send("message_end", message=None)
        self.send("message_update", assistantMessageEvent={"type": "hologram_delta", "delta": 7})
        self.send("tool_execution_end", toolCallId=None, result=7)
        self.dialog("hologram", title=None)

    def new_id(self) -> None:
        """A session of this protocol keeps its id."""

    def compact(self) -> None:
        self.send("compaction_start", reason="threshold")
        self.send("compaction_end", reason="threshold", result={"summary": "s"}, aborted=False, willRetry=False)

    def usage(self) -> None:
        """Its messages tell it anyway."""

    def took(self, words: str) -> None:
        """It is in the run once the run echoes it."""
        self.close_message()
        for kind in ("message_start", "message_end"):
            self.send(kind, message={"role": "user", "content": [{"type": "text", "text": words}]})
