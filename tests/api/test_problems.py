"""Every error has one status, and says what happened, where, and what to do."""

import re
from pathlib import Path

import pytest

from kai.api.problems import STATUSES, document, malformed
from kai.model import errors
from kai.model.errors import KaiError
from kai.settings.problems import ConfigError, Problem


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (malformed("no JSON"), 400, "malformed"),
        (errors.ApiError(413, "Too large", "It is."), 413, "too-large"),
        (errors.DeniedError("no"), 403, "not-allowed"),
        (errors.UnknownThingError("turn", "t-1"), 404, "not-found"),
        (errors.WrongMoveError("turn", "t-1", "done", "running"), 409, "wrong-state"),
        (errors.BusyError("c-1", "t-1"), 409, "busy"),
        (errors.BadInputError("text", "is empty"), 422, "bad-input"),
        (errors.ContextBudgetError(2, 1, ()), 422, "does-not-fit"),
        (ConfigError((Problem("kai.yaml", 3, 1, "x", "is wrong"),)), 422, "bad-configuration"),
        (errors.QueueFullError("c-1", 20), 429, "queue-full"),
        (errors.LaunchError("claude", "it is not there"), 502, "agent-not-started"),
        (errors.StoreError("kai.db", "the disk is full", "Make room."), 503, "database-unusable"),
        (errors.UnreachableError("s", "p"), 500, "failed"),
    ],
)
def test_an_error_becomes_the_status_and_the_type_of_its_kind(error: KaiError, status: int, kind: str) -> None:
    found = document(error)
    assert (found.status, found.type) == (status, f"urn:kai:problem:{kind}")
    assert found.detail == error.sentence
    assert found.hint == error.hint


def test_a_problem_names_the_field_that_was_wrong() -> None:
    assert document(errors.BadInputError("attachments.0", "is missing")).field == "attachments.0"
    assert document(malformed("it stands there twice", "chat")).field == "chat"
    assert document(errors.DeniedError("no")).field == ""


def test_no_class_in_the_table_is_hidden_by_one_of_its_bases() -> None:
    for place, (kind, _, _) in enumerate(STATUSES):
        assert not any(issubclass(kind, earlier) for earlier, _, _ in STATUSES[:place]), kind


def test_the_documentation_lists_every_kind_of_problem_with_its_status() -> None:
    package = Path(__file__).parents[2]
    sources = "".join(path.read_text() for path in (package / "kai" / "api").glob("*.py"))
    raised = re.findall(r'ApiError\((\d+), "([^"]+)"', sources) + [(str(code), title) for _, code, title in STATUSES]
    rows = re.findall(r"^\| (\d{3}) \| (.*?) \|", (package / "docs" / "api.md").read_text(), re.MULTILINE)
    said = {(status, kind) for status, kinds in rows for kind in re.findall(r"`([a-z-]+)`", kinds)}
    assert said == {(status, title.lower().replace(" ", "-")) for status, title in raised}
