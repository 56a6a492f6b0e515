"""What Codex asks of its client: approvals and questions. Its request ids are numbers of its own and begin at 0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kai.model.events import Ask, AskWithdrawn, Choice, ChoiceKind
from kai.protocols.app_server_items import changes_of, command_of
from kai.protocols.calls import TARGET_CHARS, answers_of, arguments_of, once_or_not
from kai.protocols.classify import short
from kai.protocols.driver import Output, Send, Skipped
from kai.wire import jsonrpc
from kai.wire.jsonrpc import Id, Request
from kai.wire.values import Json, items, pretty, record, text

_COMMAND = "item/commandExecution/requestApproval"
_FILES = "item/fileChange/requestApproval"
_PERMISSIONS = "item/permissions/requestApproval"
_QUESTIONS = "item/tool/requestUserInput"
_MCP = "mcpServer/elicitation/request"
_KNOWN = frozenset({_COMMAND, _FILES, _PERMISSIONS, _QUESTIONS})
_ALWAYS = "Allow exactly this in this session"
_ALWAYS_TOOL = "Allow this tool in this session"
_SHOWN = {"command": "", "cwd": "in ", "reason": "Why it asks: ", "grantRoot": "It would then write anywhere below "}
_SHOWN_WHOLE = ("additionalPermissions", "networkApprovalContext", "permissions")
_DECISIONS: Mapping[ChoiceKind, str] = {ChoiceKind.ALLOW_ONCE: "accept", ChoiceKind.ALLOW_ALWAYS: "acceptForSession"}


@dataclass
class _Open:
    """A request that Codex waits on. `questions` are asked one after the other."""

    request: Request
    questions: Sequence[Json] = ()
    answers: list[str] = field(default_factory=list)


class Asks:
    """Open requests by our own short keys; a late or withdrawn one is simply not there."""

    def __init__(self, *, auto_allow: bool) -> None:
        self._auto_allow = auto_allow
        self._count = 0
        self._open: dict[str, _Open] = {}
        self._changes: dict[str, str] = {}  # item → its changes: a request for approval names the item only

    def note(self, item: Json) -> None:
        """Keep what an item would change: the question about it does not say it."""
        if changes := changes_of(item):
            self._changes[text(item.get("id"))] = changes

    def ask(self, request: Request, *, anyone_there: bool) -> list[Output]:
        """A request from Codex. In a turn that no person waits for it is refused at once, and an unknown one always."""
        if request.method not in _KNOWN and not _is_mcp_call(request):
            refusal = jsonrpc.error(request.id, jsonrpc.METHOD_NOT_FOUND, f"Method not found: {request.method}")
            return [Send(refusal), Skipped(f"request {request.method[:60]!r}")]
        if request.method == _QUESTIONS:
            questions = [record(question) for question in items(request.params.get("questions"))]
            item = _Open(request, questions)
            return [self._next_question(item) if questions and anyone_there else _answered(item)]
        if not anyone_there:
            return [_decided(request, None)]
        if self._auto_allow:
            return [_decided(request, ChoiceKind.ALLOW_ONCE)]
        return [self._approval(request)]

    def answer(self, ask: str, choice: Choice | None, words: str) -> list[Output]:
        item = self._open.pop(ask, None)
        if item is None:
            return []
        if not item.questions:
            return [_decided(item.request, choice.kind if choice else None)]
        said = words or (choice.label if choice is not None and choice.kind is ChoiceKind.ANSWER else "")
        item.answers.append(said)
        more = said and len(item.answers) < len(item.questions)
        return [self._next_question(item) if more else _answered(item)]

    def withdraw(self, request: Id | None) -> list[Output]:
        """Codex does not wait for the answer any more."""
        gone = [ask for ask, item in self._open.items() if item.request.id == request]
        for ask in gone:
            del self._open[ask]
        return [AskWithdrawn(ask) for ask in gone]

    def forget(self) -> list[Output]:
        """The turn is over: Codex has closed what was still open."""
        gone: list[Output] = [AskWithdrawn(ask) for ask in self._open]
        self._open.clear()
        self._changes.clear()
        return gone

    def _put(self, item: _Open, title: str, detail: str, choices: tuple[Choice, ...], *, free: bool = False) -> Ask:
        self._count += 1
        key = f"q{self._count}"
        self._open[key] = item
        return Ask(key, title, detail, choices, text(item.request.params.get("itemId")), free_text=free)

    def _approval(self, request: Request) -> Ask:
        params = request.params
        changes = self._changes.get(text(params.get("itemId")), "") if request.method == _FILES else ""
        parts = [changes, *(front + said for name, front in _SHOWN.items() if (said := text(params.get(name))))]
        parts += [f"{name}: {pretty(params[name])}" for name in _SHOWN_WHOLE if params.get(name)]
        parts.append(arguments_of(record(params.get("_meta")).get("tool_params")))
        about = {
            _COMMAND: f"shell: {command_of(params)}",
            _FILES: f"edit: {' '.join(changes.splitlines()[:1])}",
            _PERMISSIONS: "More permissions",
            _MCP: text(params.get("message")),
        }[request.method]
        detail = "\n".join(part for part in parts if part)
        always = _ALWAYS_TOOL if request.method == _MCP else _ALWAYS
        return self._put(_Open(request), short(about, TARGET_CHARS), detail, once_or_not(always))

    def _next_question(self, item: _Open) -> Ask:
        question = item.questions[len(item.answers)]
        choices, detail = answers_of(items(question.get("options")))
        return self._put(item, text(question.get("question")), detail, choices, free=True)


def _is_mcp_call(request: Request) -> bool:
    """May a tool of an MCP server run? Such a server's own questions to a person are something else."""
    return request.method == _MCP and record(request.params.get("_meta")).get("codex_approval_kind") == "mcp_tool_call"


def _decided(request: Request, kind: ChoiceKind | None) -> Send:
    """The answer to a request for approval; anything but a yes declines, and the turn goes on."""
    decision = _DECISIONS.get(kind) if kind else None
    if request.method == _MCP:
        meta = {"persist": "session"} if kind is ChoiceKind.ALLOW_ALWAYS else None
        return _reply(request, {"action": "accept" if decision else "decline", "content": {}, "_meta": meta})
    if request.method != _PERMISSIONS:
        return _reply(request, {"decision": decision or "decline"})
    scope = "session" if kind is ChoiceKind.ALLOW_ALWAYS else "turn"
    return _reply(request, {"permissions": request.params.get("permissions") if decision else {}, "scope": scope})


def _answered(item: _Open) -> Send:
    """Questions that nobody answered are left out."""
    told = {
        text(q.get("id")): {"answers": [said]} for q, said in zip(item.questions, item.answers, strict=False) if said
    }
    return _reply(item.request, {"answers": told})


def _reply(request: Request, value: Any) -> Send:
    try:
        return Send(jsonrpc.result(request.id, value))
    except (RecursionError, ValueError):  # nested so deeply that it could be read but not be written
        return Send(jsonrpc.error(request.id, jsonrpc.METHOD_NOT_FOUND, "nested too deeply"))
