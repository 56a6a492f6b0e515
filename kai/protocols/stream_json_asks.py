"""The questions of Claude Code: may this tool run, which of these answers, is this plan good."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kai.model.events import Ask, AskWithdrawn, Choice, ChoiceKind
from kai.protocols.calls import answers_of, arguments_of, once_or_not, target_of
from kai.protocols.driver import Output, Send
from kai.wire.values import Json, items, line_of, record, text

_NOT_ALLOWED = "The person did not allow this."
_NOBODY = "Nobody can be asked now."
_NO_ANSWER = "The person did not answer."


@dataclass
class _Open:
    """A request that the CLI waits on. `questions` are those of AskUserQuestion, asked one after the other."""

    request_id: str
    arguments: Json
    tool_id: str
    wider: Json | None = None  # the permission that "always" grants
    questions: Sequence[Json] = ()
    answers: dict[str, str] = field(default_factory=dict)


class Asks:
    """Open requests by our own short keys; a late or withdrawn one is simply not there."""

    def __init__(self, *, auto_allow: bool) -> None:
        self._auto_allow = auto_allow
        self._count = 0
        self._open: dict[str, _Open] = {}
        self._calls: dict[str, Any] = {}  # arguments of this turn's tool calls

    def note_call(self, tool_id: str, arguments: Any) -> None:
        """Keep what a call is about: ExitPlanMode asks without its plan."""
        self._calls[tool_id] = arguments

    def ask(self, request_id: str, request: Json, *, anyone_there: bool) -> list[Output]:
        """A ``can_use_tool`` request. In a turn that no person waits for it is denied at once."""
        name, arguments = text(request.get("tool_name")), record(request.get("input"))
        item = _Open(request_id, arguments, text(request.get("tool_use_id")))
        if not anyone_there:
            return [_deny(item, _NOBODY)]
        if name == "AskUserQuestion":
            item.questions = [record(question) for question in items(arguments.get("questions"))]
            return [self._next_question(item)] if item.questions else [_deny(item, _NO_ANSWER)]
        if name == "ExitPlanMode":
            plan = text(arguments.get("plan")) or text(record(self._calls.get(item.tool_id)).get("plan"))
            return [self._put(item, "Is this plan good?", plan or "(The agent did not send its plan.)", once_or_not())]
        if self._auto_allow:
            return [_allow(item, {})]
        return [self._permission(item, name, request)]

    def answer(self, ask: str, choice: Choice | None, words: str) -> list[Output]:
        item = self._open.pop(ask, None)
        if item is None:
            return []
        if item.questions:
            return [self._answer_question(item, choice, words)]
        kind = choice.kind if choice is not None else ChoiceKind.REJECT_ONCE
        if kind not in (ChoiceKind.ALLOW_ONCE, ChoiceKind.ALLOW_ALWAYS):
            return [_deny(item, words or _NOT_ALLOWED)]
        wider = [item.wider] if kind is ChoiceKind.ALLOW_ALWAYS and item.wider else []
        return [_allow(item, {"updatedPermissions": wider} if wider else {})]

    def withdraw(self, request_id: str) -> list[Output]:
        """The CLI does not wait for the answer any more."""
        gone = [ask for ask, item in self._open.items() if item.request_id == request_id]
        for ask in gone:
            del self._open[ask]
        return [AskWithdrawn(ask) for ask in gone]

    def forget(self) -> list[Output]:
        """The turn is over: what is still open is answered by nobody."""
        gone = [AskWithdrawn(ask) for ask in self._open]
        self._open.clear()
        self._calls.clear()
        return [*gone]

    def _put(self, item: _Open, title: str, detail: str, choices: tuple[Choice, ...], *, free: bool = False) -> Ask:
        self._count += 1
        key = f"q{self._count}"
        self._open[key] = item
        return Ask(key, title, detail, choices, item.tool_id, free_text=free)

    def _permission(self, item: _Open, name: str, request: Json) -> Ask:
        item.wider = _narrowest(items(request.get("permission_suggestions")))
        always = f"Allow {_rule(item.wider)} in this session" if item.wider else ""
        about = target_of(item.arguments) or text(request.get("description"))
        detail = arguments_of(item.arguments)
        if reason := text(request.get("decision_reason")):
            detail += f"\n\nWhy it asks: {reason}"
        return self._put(item, f"{name}: {about}" if about else name, detail, once_or_not(always))

    def _next_question(self, item: _Open) -> Ask:
        question = item.questions[len(item.answers)]
        choices, detail = answers_of(items(question.get("options")))
        if question.get("multiSelect"):
            detail = f"{detail}\nSeveral may be chosen: write them, with commas between.".lstrip()
        return self._put(item, text(question.get("question")), detail, choices, free=True)

    def _answer_question(self, item: _Open, choice: Choice | None, words: str) -> Output:
        said = words or (choice.label if choice is not None and choice.kind is ChoiceKind.ANSWER else "")
        if not said:
            return _deny(item, _NO_ANSWER)
        # Two questions of the same words would be one key: the number keeps the count right.
        item.answers[str(len(item.answers))] = said
        if len(item.answers) < len(item.questions):
            return self._next_question(item)
        told = dict(zip((text(q.get("question")) for q in item.questions), item.answers.values(), strict=True))
        return _allow(item, {"updatedInput": {**item.arguments, "answers": told}})


def _narrowest(suggestions: Sequence[Any]) -> Json | None:
    """Of the permissions that the CLI suggests the narrowest, for this session only: it writes none into files."""
    for kind in ("addRules", "addDirectories", "setMode"):
        for suggestion in suggestions:
            if record(suggestion).get("type") == kind:
                return {**record(suggestion), "destination": "session"}
    return None


def _rule(permission: Json) -> str:
    """A suggested permission in words."""
    if permission.get("type") == "setMode":
        return f"all that mode {text(permission.get('mode'))!r} allows"
    if permission.get("type") == "addDirectories":
        return "work in " + ", ".join(text(folder) for folder in items(permission.get("directories")))
    rules = [record(rule) for rule in items(permission.get("rules"))]
    return ", ".join(f"{text(rule.get('toolName'))}({text(rule.get('ruleContent')) or 'anything'})" for rule in rules)


def _allow(item: _Open, more: Json) -> Send:
    return _reply(item, {"behavior": "allow", "updatedInput": item.arguments, **more})


def _deny(item: _Open, message: str) -> Send:
    return _reply(item, {"behavior": "deny", "message": message})


def _reply(item: _Open, response: Json) -> Send:
    inner = {"subtype": "success", "request_id": item.request_id, "response": response}
    try:
        return Send(line_of({"type": "control_response", "response": inner}))
    except (RecursionError, ValueError):  # arguments nested so deeply that they could be read but not be written
        return _deny(item, "The arguments are nested too deeply.")
