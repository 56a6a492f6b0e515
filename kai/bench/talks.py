"""Conversations with questions, as LoCoMo's file has them, kept in a store by kai's own functions."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from kai.model.ids import PrincipalId, fresh
from kai.model.memory import Kind, NewRecord, Scope
from kai.model.messages import Author
from kai.model.people import Person
from kai.store import channels, messages, people, records
from kai.store.binding import Connection

_TURN = re.compile(r"D\d+:\d+")
_MOMENT = "%I:%M %p on %d %B, %Y %z"
_ANSWERABLE = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a conversation: its id in the file, as it is kept, and when it was said."""

    turn: str
    name: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence`: the turns that hold the answer."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation and its questions of the categories that have an answer."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A talk in the store: whose it is, and which turn each record holds."""

    talk: Talk
    scope: Scope
    turns: Mapping[str, str]  # by record


def read(path: Path) -> list[Talk]:
    """The conversations of a file. Raises `ValueError` or `LookupError` for another format."""
    return [_talk(one) for one in json.loads(path.read_text(encoding="utf-8"))]


def _talk(one: Mapping[str, Any]) -> Talk:
    said = one["conversation"]
    turns = []
    number = 1
    while f"session_{number}" in said:
        began = datetime.strptime(f"{said[f'session_{number}_date_time']} +0000", _MOMENT)  # noqa: DTZ007 it ends in %z
        for place, line in enumerate(said[f"session_{number}"]):
            at = began + timedelta(seconds=20 * place)
            turns.append(Turn(line["dia_id"], line["speaker"], line["text"], at))
        number += 1
    known = {turn.turn for turn in turns}
    questions = []
    for asked in one["qa"]:
        evidence = frozenset(_TURN.findall(" ".join(asked.get("evidence", ())))) & known
        if asked.get("category") in _ANSWERABLE and evidence:
            questions.append(Question(str(asked["question"]), evidence))
    return Talk(str(one.get("sample_id", "")), tuple(turns), tuple(questions))


def keep(db: Connection, talk: Talk) -> Kept:
    """A person of its own for the talk, with a message and a record of every turn. One transaction."""
    person = Person(PrincipalId(fresh("p")), talk.name or "talk", fresh("n"))
    people.add(db, person, talk.turns[0].at)
    channel = channels.private_of(db, person.principal, talk.turns[0].at).channel
    held: dict[str, str] = {}
    for turn in talk.turns:
        draft = messages.draft(channel, Author.PERSON, person.principal, turn.name, turn.text, turn.at)
        message = messages.keep(db, draft).message
        new = NewRecord(f"{turn.name}: {turn.text}", Kind.EPISODE)
        receipt = records.save(db, Scope(person.principal, channel, message=message), new, fresh("o"), turn.at)
        if receipt.record:
            held.setdefault(receipt.record, turn.turn)
    return Kept(talk, Scope(person.principal, channel), held)
