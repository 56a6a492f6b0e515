"""The face of an ACP agent."""

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fake_agent.agent import Agent


class Acp:
    """The face of an ACP agent."""

    def __init__(self, agent: "Agent") -> None:
        self.agent = agent
        self.prompt: Any = None
        self.requests = 100
        self.ids = True

    def start(self) -> None:
        """Nothing before the client speaks."""

    def take(self, msg: dict[str, Any]) -> None:
        method = msg.get("method")
        if method is None:
            self.agent.answers.put((msg["id"], msg.get("result", {})))
        elif method == "session/cancel":
            self.agent.interrupt()
        elif method == "session/prompt":
            self.agent.prompted(msg["id"], msg["params"]["prompt"][-1]["text"])
        else:
            self.answer_handshake(msg["id"], method, msg["params"])

    def answer_handshake(self, key: Any, method: str, params: dict[str, Any]) -> None:
        if self.agent.start_error and method == "session/new":
            self.error(key, -32000, "Authentication required")
        elif method == "initialize":
            able = {"loadSession": True, "promptCapabilities": {"image": True}}
            info = {"name": "fake", "version": "9.9.9"}
            self.reply(key, {"protocolVersion": 1, "agentCapabilities": able, "agentInfo": info, "authMethods": []})
        elif method == "session/new":
            self.reply(key, {"sessionId": self.agent.session})
        elif method == "session/load":
            self.agent.load(params["sessionId"])
            if not self.agent.known:
                self.error(key, -32603, "Internal error", {"details": "Invalid session identifier"})
                return
            self.update("user_message_chunk", content={"type": "text", "text": "OLD question"})
            self.update("agent_message_chunk", content={"type": "text", "text": "OLD answer"})
            self.reply(key, {})
            threading.Timer(0.1, self.say, ["OLD answer after the answer"]).start()
        elif params.get("modelId") == "refused":
            self.error(key, -32602, "Invalid params: model not found")
        elif params.get("modelId") == "deaf":
            return
        elif method in ("session/set_mode", "session/set_model", "session/set_config_option"):
            self.agent.model = params.get("modelId", self.agent.model)
            if params.get("configId") == "effort":
                self.agent.effort = params["value"]
            self.reply(key, {})
        else:
            self.error(key, -32601, f"Method not found: {method}")

    def reply(self, key: Any, result: Any) -> None:
        self.agent.wire.send({"jsonrpc": "2.0", "id": key, "result": result})

    def error(self, key: Any, code: int, message: str, data: Any = None) -> None:
        error = {"code": code, "message": message, "data": data}
        self.agent.wire.send({"jsonrpc": "2.0", "id": key, "error": error})

    def update(self, what: str, **fields: Any) -> None:
        params = {"sessionId": self.agent.session, "update": {"sessionUpdate": what, **fields}}
        self.agent.wire.send({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def request(self, method: str, params: dict[str, Any]) -> int:
        self.requests += 1
        self.agent.wire.send({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params})
        return self.requests

    def begin(self, key: Any) -> None:
        self.prompt = key

    def say(self, text: str) -> None:
        self.agent.wire.send(self.piece(text))

    def piece(self, text: str) -> Any:
        update: dict[str, Any] = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        if self.ids:
            update["messageId"] = f"m{self.agent.count}-{self.agent.tools}"
        params = {"sessionId": self.agent.session, "update": update}
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}

    def think(self, text: str) -> None:
        self.update("agent_thought_chunk", content={"type": "text", "text": text})

    def tool(self, key: str, name: str, arguments: Any) -> None:
        self.update("tool_call", toolCallId=key, title=name, kind="execute", status="pending", rawInput=arguments)

    def tool_result(self, key: str, ok: bool, text: str) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        status = "completed" if ok else "failed"
        self.update("tool_call_update", toolCallId=key, status=status, content=content)

    def ask(self, key: str, name: str, arguments: Any) -> int:
        kinds = ("reject_once", "allow_always", "allow_once", "reject_always")
        options = [{"optionId": f"o{number}", "name": kind, "kind": kind} for number, kind in enumerate(kinds)]
        call = {"toolCallId": key, "title": name, "rawInput": arguments}
        params = {"sessionId": self.agent.session, "toolCall": call, "options": options}
        return self.request("session/request_permission", params)

    def withdraw(self, request: int) -> None:
        """The protocol has no word for it."""

    def verdict(self, answer: Any) -> str:
        chosen = answer.get("outcome", {}).get("optionId", "")
        return {"o1": "always", "o2": "allowed"}.get(chosen, "")

    def question(self) -> tuple[str, Any]:
        return "colour", {"question": "Which colour?"}

    def end(self, text: str, *, stopped: bool = False, turns: int = 1) -> None:
        self.reply(self.prompt, {"stopReason": "cancelled" if stopped else "end_turn"})

    def fail(self, status: int, code: str, text: str) -> None:
        self.say(text)
        self.error(self.prompt, -32603, f"Internal error: {text}", {"errorKind": code})

    def error_text(self, text: str) -> None:
        self.agent.say("HTTP 401: bad key")

    def retry(self, attempt: int, of: int) -> None:
        """Agents of this protocol do it in silence."""

    def late(self, text: str) -> None:
        self.say(text)

    def unsolicited(self, text: str) -> None:
        self.update("agent_message_chunk", content={"type": "text", "text": text}, messageId="background")

    def unknown(self) -> None:
        self.update("hologram", content=None)
        self.update("agent_message_chunk", content=None)
        self.update("tool_call", toolCallId=None, content=7, locations={"a": None})
        self.agent.wire.send({"jsonrpc": "2.0", "method": "qwen/notify", "params": None})
        self.request("fs/write_text_file", {"path": "/tmp/x", "content": "x"})

    def new_id(self) -> None:
        """A session of this protocol keeps its id."""

    def compact(self) -> None:
        """Not told."""

    def usage(self) -> None:
        self.update("usage_update", used=1234, size=100000, cost={"amount": 0.5, "currency": "USD"})

    def took(self, words: str) -> None:
        """Nobody can steer a turn of this protocol."""
