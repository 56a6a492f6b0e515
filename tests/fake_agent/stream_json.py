"""The face of Claude Code: stream-JSON."""

import os
import sys
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fake_agent.agent import Agent


class StreamJson:
    """Claude Code's face."""

    def __init__(self, agent: "Agent") -> None:
        self.agent = agent
        self.uuid = ""
        self.message = 0
        self.ids = True  # of this protocol's messages, always

    def start(self) -> None:
        if self.agent.resume and not self.agent.known:
            error = f"No conversation found with session ID: {self.agent.resume}"
            print(error, file=sys.stderr)
            self.result(subtype="error_during_execution", is_error=True, num_turns=0, errors=[error])
            self.agent.leave(1)

    def take(self, msg: dict[str, Any]) -> None:
        """One line from the client, in the reader's thread."""
        if msg["type"] == "user":
            content = msg["message"]["content"]
            words = content if isinstance(content, str) else content[-1]["text"]
            self.lifecycle("queued", msg["uuid"])
            self.agent.prompted(msg["uuid"], words)
        elif msg["type"] == "control_request" and msg["request"]["subtype"] == "interrupt":
            self.respond(msg["request_id"], {"still_queued": []})
            self.agent.interrupt()
        elif msg["type"] == "control_request" and msg["request"]["subtype"] != "initialize":
            self.choose(msg["request_id"], msg["request"])
        elif msg["type"] == "control_request":
            self.respond(msg["request_id"], {"commands": [], "pid": os.getpid(), "claude_code_version": "9.9.9"})
        elif msg["type"] == "control_response":
            self.agent.answers.put((msg["response"]["request_id"], msg["response"].get("response", {})))

    def choose(self, key: str, request: dict[str, Any]) -> None:
        """Another model or effort, or what is chosen."""
        if request.get("model") == "refused":
            inner = {"subtype": "error", "request_id": key, "error": "not this model"}
            self.send({"type": "control_response", "response": inner})
        elif request.get("model") != "deaf":
            self.agent.model = request.get("model", self.agent.model)
            self.agent.effort = request.get("settings", {}).get("effortLevel", self.agent.effort)
            self.respond(key, {"applied": {"model": self.agent.model, "effort": self.agent.effort}})

    def respond(self, request: str, response: Any) -> None:
        inner = {"subtype": "success", "request_id": request, "response": response}
        self.send({"type": "control_response", "response": inner})

    def send(self, msg: dict[str, Any]) -> None:
        self.agent.wire.send({**msg, "session_id": self.agent.session})

    def lifecycle(self, state: str, which: str) -> None:
        self.send({"type": "command_lifecycle", "command_uuid": which, "state": state})

    def begin(self, key: str) -> None:
        self.uuid = key
        self.lifecycle("started", key)
        self.init(user_message_uuids=[key])

    def init(self, **more: Any) -> None:
        able = ["interrupt_receipt_v1", "msg_lifecycle_v1"]
        init = {"type": "system", "subtype": "init", "model": "fake-1", "claude_code_version": "9.9.9"}
        self.send({**init, "capabilities": able, **more})

    def say(self, text: str) -> None:
        if not self.agent.said:
            self.message += 1
            self.event({"type": "message_start", "message": {"id": f"m{self.message}"}})
        self.agent.wire.send(self.piece(text))

    def piece(self, text: str) -> Any:
        delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        return {"type": "stream_event", "event": delta, "parent_tool_use_id": None, "session_id": self.agent.session}

    def event(self, event: dict[str, Any]) -> None:
        self.send({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def block(self, block: dict[str, Any], role: str = "assistant") -> None:
        message = {"id": f"m{self.message}", "role": role, "content": [block]}
        self.send({"type": role, "message": message, "parent_tool_use_id": None})

    def close_message(self) -> None:
        """The whole text block comes after its deltas, as the real one does it."""
        if self.agent.said:
            self.block({"type": "text", "text": self.agent.said})
            self.agent.said = ""

    def think(self, text: str) -> None:
        self.event({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": text}})

    def tool(self, key: str, name: str, arguments: Any) -> None:
        self.close_message()
        self.block({"type": "tool_use", "id": key, "name": name, "input": arguments})

    def tool_result(self, key: str, ok: bool, text: str) -> None:
        self.block({"type": "tool_result", "tool_use_id": key, "is_error": not ok, "content": text}, "user")

    def ask(self, key: str, name: str, arguments: Any) -> str:
        request = str(uuid.uuid4())
        ask = {"subtype": "can_use_tool", "tool_name": name, "input": arguments, "tool_use_id": key}
        ask["permission_suggestions"] = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
        self.send({"type": "control_request", "request_id": request, "request": ask})
        return request

    def withdraw(self, request: str) -> None:
        self.send({"type": "control_cancel_request", "request_id": request})

    def verdict(self, answer: Any) -> str:
        """What an answer came to: "" for a refusal."""
        if answer.get("behavior") != "allow":
            return ""
        chosen = answer.get("updatedInput", {}).get("answers")
        return "always" if answer.get("updatedPermissions") else ",".join(chosen.values()) if chosen else "allowed"

    def question(self) -> tuple[str, Any]:
        options = [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]
        asked = [{"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": options}]
        return "AskUserQuestion", {"questions": asked}

    def result(self, **fields: Any) -> None:
        result = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "result": ""}
        self.send({**result, "terminal_reason": "completed", **fields})

    def end(self, text: str, *, stopped: bool = False, turns: int = 1) -> None:
        self.close_message()
        ids: dict[str, Any] = {"user_message_uuids": [self.uuid]} if turns else {}
        if stopped:
            error = ["[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null"]
            aborted = {"subtype": "error_during_execution", "terminal_reason": "aborted_streaming"}
            self.result(is_error=True, errors=error, **aborted, **ids)
        else:
            self.result(result=text, num_turns=turns, usage={"input_tokens": 7, "output_tokens": 3}, **ids)
        self.lifecycle("completed", self.uuid)

    def fail(self, status: int, code: str, text: str) -> None:
        line = {"type": "assistant", "error": code, "is_api_error_message": True, "parent_tool_use_id": None}
        self.send(
            {**line, "message": {"id": "e1", "model": "<synthetic>", "content": [{"type": "text", "text": text}]}}
        )
        ids = {"user_message_uuids": [self.uuid]}
        self.result(is_error=True, terminal_reason="api_error", api_error_status=status, result=text, **ids)

    def error_text(self, text: str) -> None:
        self.agent.say(text)

    def retry(self, attempt: int, of: int) -> None:
        retry = {"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": of}
        self.send({**retry, "error_status": 529, "error": "overloaded"})

    def late(self, text: str) -> None:
        self.block({"type": "text", "text": text})

    def unsolicited(self, text: str) -> None:
        self.init()
        self.message += 1
        self.block({"type": "text", "text": text})
        self.result(result=text, origin={"kind": "task-notification"})

    def unknown(self) -> None:
        self.send({"type": "banana", "message": None})
        self.send({"type": "assistant", "message": {"content": None}})
        self.send({"type": "assistant", "message": {"content": [{"type": "hologram"}, None, 7]}})
        self.send({"type": "system", "subtype": None})

    def new_id(self) -> None:
        self.send({"type": "conversation_reset", "trigger": "clear"})
        self.agent.session = str(uuid.uuid4())
        self.init(user_message_uuids=[self.uuid])

    def compact(self) -> None:
        self.send({"type": "system", "subtype": "compact_boundary"})

    def usage(self) -> None:
        """Its result tells it anyway."""

    def took(self, words: str) -> None:
        """Nobody can steer a turn of this protocol."""
