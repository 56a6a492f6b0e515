"""The face of Codex: its app-server protocol."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fake_agent.agent import Agent


class AppServer:
    """Codex's face. A turn has an id of its own, and so has each of its items."""

    def __init__(self, agent: "Agent") -> None:
        self.agent = agent
        self.turn = ""
        self.told: dict[str, Any] = {}  # of the thread, once it is loaded
        self.message = 0
        self.requests = -1  # of the server, which counts from 0
        self.asked: dict[int, str] = {}  # request → method
        self.ids = True  # of this protocol's messages, always

    def start(self) -> None:
        """Nothing before the client speaks."""

    def take(self, msg: dict[str, Any]) -> None:
        method, params = msg.get("method"), msg.get("params") or {}
        if method is None:
            self.agent.answers.put((msg["id"], msg.get("result", {})))
        elif method == "turn/start":
            text = params["input"][-1]["text"]
            turn = f"turn-{msg['id']}"
            self.reply(msg["id"], {"turn": {"id": turn, "status": "inProgress", "items": []}})
            self.agent.prompted(turn, text)
        elif method == "turn/steer":
            if self.agent.turn_runs.is_set() and params["expectedTurnId"] == self.turn:
                self.agent.heard.put(params["input"][-1]["text"])
                self.reply(msg["id"], {"turnId": self.turn})
            else:
                self.error(msg["id"], -32600, "no active turn to steer")
        elif method == "turn/interrupt":
            if self.agent.turn_runs.is_set() and params["turnId"] == self.turn:
                self.reply(msg["id"], {})
                self.agent.interrupt()
            else:
                self.error(msg["id"], -32600, "no active turn to interrupt")
        elif "id" in msg:
            self.answer(msg["id"], method, params)

    def answer(self, key: Any, method: str, params: dict[str, Any]) -> None:
        if method == "initialize":
            self.reply(key, {"userAgent": "kai/9.9.9 (fake)", "codexHome": "/", "platformOs": "linux"})
        elif method == "account/read":
            self.reply(key, {"account": None, "requiresOpenaiAuth": self.agent.start_error})
        elif method == "thread/settings/update":
            self.choose(key, params)
        elif method == "thread/resume" and self.told:
            self.reply(key, self.told | {"model": self.agent.model, "reasoningEffort": self.agent.effort or None})
        elif method == "thread/resume":
            self.agent.load(params["threadId"])
            if self.agent.known:
                self.thread(key, params)
            else:
                self.error(key, -32600, f"no rollout found for thread id {params['threadId']}")
        elif method == "thread/start":
            self.thread(key, params)
        elif method == "thread/backgroundTerminals/clean":
            self.reply(key, {})
        else:
            self.error(key, -32600, f"Invalid request: unknown variant {method}")

    def choose(self, key: Any, params: dict[str, Any]) -> None:
        if params.get("model") == "refused":
            self.error(key, -32600, "not this model")
        elif params.get("model") != "deaf":
            self.agent.model = params.get("model", self.agent.model)
            self.agent.effort = params.get("effort", self.agent.effort)
            self.reply(key, None)

    def thread(self, key: Any, params: dict[str, Any]) -> None:
        sandbox = "dangerFullAccess" if params["sandbox"] == "danger-full-access" else "readOnly"
        self.agent.effort = effort = (params.get("config") or {}).get("model_reasoning_effort", "")
        self.agent.model = params.get("model") or "fake-1"
        told = {"thread": {"id": self.agent.session}, "model": self.agent.model, "modelProvider": "fake"}
        policy = {"approvalPolicy": params["approvalPolicy"], "sandbox": {"type": sandbox}}
        self.told = told | policy | {"reasoningEffort": effort or None}
        self.reply(key, self.told)

    def reply(self, key: Any, result: Any) -> None:
        self.agent.wire.send({"id": key, "result": result})

    def error(self, key: Any, code: int, message: str) -> None:
        self.agent.wire.send({"error": {"code": code, "message": message}, "id": key})

    def tell(self, method: str, *, turn: str = "", **params: Any) -> None:
        where = {"threadId": self.agent.session, "turnId": turn or self.turn}
        self.agent.wire.send({"method": method, "params": {**where, **params}, "emittedAtMs": 1})

    def item(self, what: str, *, turn: str = "", **item: Any) -> None:
        self.tell(f"item/{what}", turn=turn, item=item)

    def begin(self, key: str) -> None:
        self.turn = key
        self.tell("turn/started", turn=key)
        self.item("started", type="userMessage", id="u", content=[])
        self.item("completed", type="userMessage", id="u", content=[])

    @property
    def message_id(self) -> str:
        return f"m{self.message}"

    def say(self, text: str) -> None:
        if not self.agent.said:
            self.message += 1
            self.item("started", type="agentMessage", id=self.message_id, text="")
        self.agent.wire.send(self.piece(text))

    def piece(self, text: str) -> Any:
        params = {"threadId": self.agent.session, "turnId": self.turn, "itemId": self.message_id, "delta": text}
        return {"method": "item/agentMessage/delta", "params": params}

    def close_message(self) -> None:
        if self.agent.said:
            self.item("completed", type="agentMessage", id=self.message_id, text=self.agent.said)
            self.agent.said = ""

    def think(self, text: str) -> None:
        self.tell("item/reasoning/summaryTextDelta", itemId="r", delta=text)
        self.item("completed", type="reasoning", id="r", summary=[text])

    def tool(self, key: str, name: str, arguments: Any) -> None:
        self.close_message()
        self.item("started", **self.command(key, arguments), status="inProgress")

    def command(self, key: str, arguments: Any) -> dict[str, Any]:
        return {"type": "commandExecution", "id": key, "command": arguments["command"], "cwd": "/"}

    def tool_result(self, key: str, ok: bool, text: str) -> None:
        status: dict[str, Any] = {
            "status": "completed" if ok else "failed",
            "exitCode": 0 if ok else 1,
            "aggregatedOutput": text,
        }
        self.item("completed", **self.command(key, {"command": "ls"}), **status)

    def ask(self, key: str, name: str, arguments: Any) -> int:
        if name == "colour":
            return self.request("item/tool/requestUserInput", {"itemId": key, **arguments})
        return self.request("item/commandExecution/requestApproval", {"itemId": key, "kind": "command", **arguments})

    def request(self, method: str, params: dict[str, Any]) -> int:
        self.requests += 1
        where = {"threadId": self.agent.session, "turnId": self.turn}
        self.agent.wire.send({"method": method, "id": self.requests, "params": {**where, **params}})
        return self.requests

    def withdraw(self, request: int) -> None:
        self.tell("serverRequest/resolved", requestId=request)

    def verdict(self, answer: Any) -> str:
        if "answers" in answer:
            return ",".join(said for one in answer["answers"].values() for said in one["answers"])
        return {"accept": "allowed", "acceptForSession": "always"}.get(answer.get("decision", ""), "")

    def question(self) -> tuple[str, Any]:
        options = [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]
        return "colour", {
            "questions": [{"id": "c", "header": "Colour", "question": "Which colour?", "options": options}]
        }

    def end(self, text: str, *, stopped: bool = False, turns: int = 1) -> None:
        if not stopped:
            self.close_message()  # what was interrupted is never completed
            self.tell("thread/tokenUsage/updated", tokenUsage={"total": {}, "last": {}})
        self.over("interrupted" if stopped else "completed", None)

    def over(self, status: str, error: Any) -> None:
        told = {
            "threadId": self.agent.session,
            "turn": {"id": self.turn, "status": status, "error": error, "items": []},
        }
        self.agent.wire.send({"method": "turn/completed", "params": told})

    def fail(self, status: int, code: str, text: str) -> None:
        info: Any = {"httpConnectionFailed": {"httpStatusCode": status}}
        error = {"message": text, "codexErrorInfo": info, "additionalDetails": None}
        self.tell("error", error=error, willRetry=False)
        self.over("failed", error)

    def error_text(self, text: str) -> None:
        self.agent.say(text)

    def retry(self, attempt: int, of: int) -> None:
        info = {"responseStreamDisconnected": {"httpStatusCode": None}}
        error = {"message": f"Reconnecting... {attempt}/{of}", "codexErrorInfo": info, "additionalDetails": "cut"}
        self.tell("error", error=error, willRetry=True)

    def late(self, text: str) -> None:
        self.agent.wire.send(self.piece("half of it"))
        self.item("completed", type="agentMessage", id="late", text=text)

    def unsolicited(self, text: str) -> None:
        self.message += 1
        self.tell("turn/started", turn="own")
        self.item("started", turn="own", type="agentMessage", id=self.message_id, text="")
        self.tell("item/agentMessage/delta", turn="own", itemId=self.message_id, delta=text)
        self.item("completed", turn="own", type="agentMessage", id=self.message_id, text=text)
        told = {"threadId": self.agent.session, "turn": {"id": "own", "status": "completed"}}
        self.agent.wire.send({"method": "turn/completed", "params": told})

    def unknown(self) -> None:
        self.tell("hologram/updated", x=None)
        self.item("completed", type="hologram")
        self.tell("item/started", item=None)
        self.tell("item/agentMessage/delta", delta=None)
        self.request("attestation/generate", {})

    def new_id(self) -> None:
        """A thread keeps its id."""

    def compact(self) -> None:
        self.item("started", type="contextCompaction", id="x")
        self.item("completed", type="contextCompaction", id="x")

    def usage(self) -> None:
        used = {"totalTokens": 10, "inputTokens": 7, "outputTokens": 3}
        self.tell("thread/tokenUsage/updated", tokenUsage={"total": used, "last": used, "modelContextWindow": 258400})

    def took(self, words: str) -> None:
        """Its answer to the request has said so."""
