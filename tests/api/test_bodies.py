"""Bodies are strict, identity is never taken from them, and no text is lost for a sign that cannot be carried."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.api.bodies import IDENTITY, DeliveriesQuery, MessageBody, ReceiptBody, TurnsQuery, UseBody, checked, harmless
from kai.model.errors import BadInputError
from kai.model.turns import ReceiptOutcome

MESSAGE = {"chat": "1", "external_id": "a", "text": "hello"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"chat": 5}, "chat"),
        ({"chat": ""}, "chat"),
        ({"chat": "a\nb"}, "chat"),
        ({"chat": "a\0"}, "chat"),
        ({"chat": "\ud800"}, "chat"),
        ({"chat": "x" * 513}, "chat"),
        ({"text": None}, "text"),
        ({"text": float("nan")}, "text"),
        ({"deleted": 1}, "deleted"),
        ({"deleted": "true"}, "deleted"),
        ({"attachments": "x-1"}, "attachments"),
        ({"attachments": ["x-1", 2]}, "attachments.1"),
        ({"attachments": ["x"] * 65}, "attachments"),
        ({"sent_at": "2026-11-30T10:00:00"}, "sent_at"),
        ({"sent_at": "yesterday"}, "sent_at"),
    ],
)
def test_a_wrong_value_is_refused_with_the_name_of_its_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInputError) as caught:
        checked(MessageBody, MESSAGE | change)
    assert caught.value.field == field


def test_a_missing_field_is_named() -> None:
    with pytest.raises(BadInputError, match="external_id: is missing") as caught:
        checked(MessageBody, {"chat": "1"})
    assert caught.value.field == "external_id"


def test_an_unknown_field_is_named_with_the_nearest_known_one_even_where_others_are_missing() -> None:
    with pytest.raises(BadInputError) as caught:
        checked(MessageBody, {"chat": "1", "externalid": "a"})
    assert caught.value.field == "externalid"
    assert "'external_id'" in caught.value.hint


@pytest.mark.parametrize("name", [*sorted(IDENTITY), "kai-as", "Principal"])
def test_a_field_that_claims_who_speaks_is_refused_by_name(name: str) -> None:
    with pytest.raises(BadInputError, match="never from what it sends") as caught:
        checked(MessageBody, MESSAGE | {name: "p-ben"})
    assert caught.value.field == name


@pytest.mark.parametrize("data", [None, 1, "x", [], [1], True])
def test_a_body_that_is_no_object_is_refused_as_a_whole(data: Any) -> None:
    with pytest.raises(BadInputError) as caught:
        checked(MessageBody, data)
    assert caught.value.field == "body"


def test_the_name_of_a_hostile_field_is_shown_harmless_and_short() -> None:
    with pytest.raises(BadInputError) as caught:
        checked(MessageBody, MESSAGE | {"\ud800\0" + "y" * 5000: 1})
    assert len(caught.value.field) <= 100
    caught.value.sentence.encode()


def test_text_keeps_every_sign_but_halves_of_pairs_and_nul() -> None:
    words = "a\0b\ud800c\U0001f600\u202e\r\n"
    assert checked(MessageBody, MESSAGE | {"text": words}).text == "a\u2400b\ufffdc\U0001f600\u202e\r\n"


@given(st.text(alphabet=st.characters(codec=None, categories=("L", "Cs", "Cc", "So", "Zs"))))
def test_any_text_becomes_one_that_utf8_can_carry_of_the_same_length(text: str) -> None:
    mended = harmless(text)
    mended.encode()
    assert "\0" not in mended
    assert len(mended) == len(text)
    assert harmless(mended) == mended


def test_a_receipt_takes_the_outcomes_that_there_are_and_no_other() -> None:
    assert checked(ReceiptBody, {"outcome": "sent", "external_ids": ["1", "2"]}).outcome is ReceiptOutcome.SENT
    with pytest.raises(BadInputError) as caught:
        checked(ReceiptBody, {"outcome": "lost"})
    assert caught.value.field == "outcome"


def test_a_query_is_read_from_text_within_its_bounds() -> None:
    asked = checked(DeliveriesQuery, {"after": "12", "idempotent": "1"})
    assert (asked.after, asked.idempotent) == (12, True)
    for wrong in ("-1", "x", "9" * 30):
        with pytest.raises(BadInputError) as caught:
            checked(DeliveriesQuery, {"after": wrong})
        assert caught.value.field == "after"
    with pytest.raises(BadInputError):
        checked(TurnsQuery, {"limit": "0"})
    with pytest.raises(BadInputError) as caught:
        checked(TurnsQuery, {"limits": "5"})
    assert "'limit'" in caught.value.hint


def test_a_choice_may_leave_everything_out() -> None:
    assert checked(UseBody, {}).wait is False
