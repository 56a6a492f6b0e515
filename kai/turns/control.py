"""Messages that are for kai and not for the agent: slash commands and answers to open questions. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from kai.model.events import Choice, ChoiceKind
from kai.model.ids import AskId
from kai.model.turns import Question

COMMANDS: dict[str, str] = {
    "help": "/help: this list",
    "stop": "/stop: interrupt the running turn; the session is kept",
    "steer": "/steer WORDS: say something to the agent while it works; where it cannot listen, it waits as a message",
    "new": "/new: begin a fresh session; your messages are kept",
    "backend": "/backend [NAME [MODEL]]: show or change the agent CLI",
    "model": "/model [NAME]: show or change the model ('-' for the default)",
    "workspace": "/workspace [NAME]: show or change the folder the agent works in ('-' for your home)",
    "agent": "/agent [NAME]: show or change the agent definition",
    "retry": "/retry: run the last turn again that did not end well",
    "status": "/status: what runs and what waits",
    "context": "/context: what went before your last message",
    "memory": "/memory [WORDS]: what is remembered of you here; /memory restore ID brings back what was forgotten; "
    "/memory candidates, accept ID, reject ID: what waits for your word",
    "remember": "/remember TEXT: keep something; 'preference: TEXT' goes along with every message",
    "forget": "/forget TEXT: use something no more, by its ID or its words",
    "jobs": "/jobs: scheduled jobs (not built yet)",
    "temporary": "/temporary: from the next message on nothing is kept; '/temporary off' ends that",
}

_WORD = re.compile(r"/([^\s/]+)(?=\s|$)")
_ALLOW = frozenset({"yes", "y", "allow", "ok"})
_REJECT = frozenset({"no", "n", "deny", "reject"})


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command of kai; `argument` is the rest of the line, stripped. Without a name: one that it is near to."""

    name: str
    argument: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to an open question: a choice, or free text where the question takes it."""

    ask: AskId
    choice: str
    text: str = ""


def recognise(text: str, questions: Sequence[Question]) -> Command | Reply | None:
    """What kai has to do itself, or None for an ordinary message. `questions` are those open for this sender here.

    A word behind a slash that is not kai's passes on: the backend may own it. Of those, `meant` knows the mistyped.
    """
    stripped = text.strip()
    if stripped.startswith("/"):
        word, _, rest = stripped[1:].partition(" ")
        name = word.casefold()
        return Command(name, rest.strip()) if name in COMMANDS and "\n" not in word else None
    return _reply(stripped, questions[-1]) if stripped and questions else None


def meant(text: str) -> str:
    """The command that a mistyped one at the very start of `text` is near to; empty when there is none."""
    found = _WORD.match(text)
    name = found.group(1).casefold() if found else ""
    if not name or name in COMMANDS:
        return ""
    swapped = [each for each in COMMANDS if sorted(each) == sorted(name)]
    return next(iter(swapped or get_close_matches(name, COMMANDS, 1, 0.75)), "")


def _reply(text: str, question: Question) -> Reply | None:
    choice = chosen(text, question.choices)
    if choice is not None:
        return Reply(question.ask, choice.key)
    if (
        text.isdecimal() and len(text) < 3 and not question.free_text
    ):  # a number was meant as an answer: told, not queued
        return Reply(question.ask, text)
    return Reply(question.ask, "", text) if question.free_text else None


def chosen(text: str, choices: Sequence[Choice]) -> Choice | None:
    """The choice that `text` names: its number from 1, its key, its label, or a plain yes or no."""
    word = text.strip().casefold().rstrip(".!")
    if word.isdecimal() and word.isascii() and 1 <= int(word[:6]) <= len(choices):
        return choices[int(word) - 1]
    for choice in choices:
        if word in (choice.key.casefold(), choice.label.casefold()):
            return choice
    if word in _ALLOW:
        return narrowest(choices, ChoiceKind.ALLOW_ONCE, ChoiceKind.ALLOW_ALWAYS)
    if word in _REJECT:
        return narrowest(choices, ChoiceKind.REJECT_ONCE, ChoiceKind.REJECT_ALWAYS)
    return None


def narrowest(choices: Sequence[Choice], *kinds: ChoiceKind) -> Choice | None:
    """The first choice of the first kind that is offered: by kind, never by its place or its id."""
    return next((choice for kind in kinds for choice in choices if choice.kind is kind), None)


def help_text(native: Sequence[str] = ()) -> str:
    """The commands, a line each; `native` are those of the backend itself, which pass through, but for kai's names."""
    lines = ["Commands:", *COMMANDS.values()]
    if own := [each for each in native if each.removeprefix("/") not in COMMANDS]:
        lines.append("Passed on to the backend: " + " ".join(own))
    return "\n".join(lines)


def question_text(title: str, detail: str, choices: Sequence[Choice]) -> str:
    """A question as it is delivered: title, the whole arguments, the choices by number."""
    lines = [title]
    if detail and detail != title:
        lines += ["", detail]
    lines += ["", *(f"{n}. {choice.label}" for n, choice in enumerate(choices, start=1))]
    return "\n".join(lines)
