"""What the verbs have in common."""

import json

import pytest

from kai.commands.verb import Verb
from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

COLUMNS = {"name": lambda row: row["name"], "is on": lambda row: row["on"]}
ROWS = [{"name": "日本", "on": True}, {"name": "a", "on": False}]


def verb(*, as_json: bool) -> Verb:
    return Verb((None, None, None), "", as_json)


def test_rows_are_a_table_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    verb(as_json=False).rows(ROWS, COLUMNS, nothing="")
    assert capsys.readouterr().out == "NAME  IS ON\n日本  yes\na     no\n"
    verb(as_json=True).rows(ROWS, COLUMNS, nothing="")
    assert json.loads(capsys.readouterr().out) == ROWS


def test_nothing_is_said_in_words_and_is_an_empty_list_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    verb(as_json=False).rows([], COLUMNS, nothing="Nobody yet.")
    verb(as_json=True).rows([], COLUMNS, nothing="Nobody yet.")
    assert capsys.readouterr().out == "Nobody yet.\n[]\n"


def test_every_verb_says_for_whom_it_asks(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/channels"] = (200, [])
    assert kai("channel", "list", "--as", "Ann")[0] == 0
    assert fake.asked[-1].headers["kai-as"] == "Ann"
    assert kai("channel", "list")[0] == 0
    assert "kai-as" not in fake.asked[-1].headers
