"""Every error has one status, and says what happened, where, and what to do."""

import inspect

import pytest

from kai.api import problems
from kai.api.problems import STATUSES, document
from kai.model import errors
from kai.model.errors import KaiError
from kai.settings.problems import ConfigError, Problem


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (problems.MalformedError("no JSON"), 400, "malformed"),
        (errors.DeniedError("no"), 403, "denied"),
        (errors.UnknownThingError("turn", "t-1"), 404, "unknown-thing"),
        (problems.WrongMethodError("PUT", "/v1", ("GET",)), 405, "wrong-method"),
        (problems.NoRouteError("GET", "/x"), 404, "no-route"),
        (errors.WrongMoveError("turn", "t-1", "done", "running"), 409, "wrong-move"),
        (errors.BusyError("c-1", "t-1"), 409, "busy"),
        (problems.TooLargeError("body", 5, "a.b"), 413, "too-large"),
        (errors.BadInputError("text", "is empty"), 422, "bad-input"),
        (ConfigError((Problem("kai.yaml", 3, 1, "x", "is wrong"),)), 422, "config"),
        (errors.QueueFullError("c-1", 20), 429, "queue-full"),
        (errors.StoreError("kai.db", "the disk is full", "Make room."), 503, "store"),
        (problems.CrowdedError(), 503, "crowded"),
        (problems.FaultError("e-1"), 500, "fault"),
        (errors.UnreachableError("s", "p"), 500, "unreachable"),
    ],
)
def test_an_error_becomes_the_status_and_the_type_of_its_kind(error: KaiError, status: int, kind: str) -> None:
    found = document(error)
    assert (found.status, found.type) == (status, f"urn:kai:problem:{kind}")
    assert found.detail == error.sentence
    assert found.hint == error.hint


def test_a_problem_names_the_field_that_was_wrong() -> None:
    assert document(errors.BadInputError("attachments.0", "is missing")).field == "attachments.0"
    assert document(errors.DeniedError("no")).field == ""


def test_no_class_in_the_table_is_hidden_by_one_of_its_bases() -> None:
    for place, (kind, _, _) in enumerate(STATUSES):
        assert not any(issubclass(kind, earlier) for earlier, _, _ in STATUSES[:place]), kind


def test_every_error_of_the_door_itself_is_told_from_a_fault() -> None:
    own = {kind for _, kind in inspect.getmembers(problems, inspect.isclass) if kind.__module__ == problems.__name__}
    listed = {kind for kind, _, _ in STATUSES}
    assert own - listed == {problems.FaultError, problems.ProblemDocument}
