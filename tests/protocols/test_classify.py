"""Why turns fail: the same words for the same trouble, whichever backend shows it."""

from datetime import UTC, datetime

import pytest

from kai.model.errors import FailureKind
from kai.protocols.classify import (
    Evidence,
    classify,
    error_in,
    error_notice,
    is_notice,
    may_be_error,
    moment,
    of_kind,
    short,
)


@pytest.mark.parametrize(
    ("evidence", "kind"),
    [
        # As Claude Code shows it
        (
            Evidence(text="Internal error: No LLM provider configured. Run `hermes model`", rpc_code=-32603),
            FailureKind.LOGIN,
        ),
        (Evidence(status=401, code="authentication_failed", text="Failed to authenticate."), FailureKind.LOGIN),
        (Evidence(text="Not logged in · Please run /login"), FailureKind.LOGIN),
        (Evidence(status=429, code="rate_limit", text="API Error: Request rejected (429)"), FailureKind.QUOTA),
        (Evidence(status=529, text="API Error: 529 Overloaded"), FailureKind.PROVIDER),
        (Evidence(status=404, text="There's an issue with the selected model (x)."), FailureKind.MODEL),
        (Evidence(status=413, code="invalid_request", text="Request too large (max 32MB)."), FailureKind.CONTEXT),
        (Evidence(status=400, text="prompt is too long: 212345 tokens"), FailureKind.CONTEXT),
        (Evidence(status=400, text="API Error: 400 stub"), FailureKind.PROTOCOL),
        (Evidence(code="server_error", text="API Error: Connection refused (ECONNREFUSED)"), FailureKind.PROVIDER),
        (Evidence(text="No conversation found with session ID: x"), FailureKind.RESUME),
        (Evidence(status=400, text="API Error: 400 Could not process image"), FailureKind.REFUSED),
        (Evidence(status=422, text="API Error: 422 unprocessable"), FailureKind.PROTOCOL),
        (Evidence(status=503, text="API Error: 503"), FailureKind.PROVIDER),
        # As ACP agents show it
        (Evidence(rpc_code=-32000, text="Authentication required"), FailureKind.LOGIN),
        (Evidence(rpc_code=-32000), FailureKind.LOGIN),
        (Evidence(rpc_code=401, text='{"error":{"code":401}}'), FailureKind.LOGIN),
        (Evidence(rpc_code=-32603, code="rate_limit", text="x"), FailureKind.QUOTA),
        (Evidence(rpc_code=-32603, text="stub error 401"), FailureKind.LOGIN),
        (Evidence(rpc_code=-32603, text="'NoneType' object has no attribute 'startswith'"), FailureKind.PROTOCOL),
        (Evidence(rpc_code=-32602, text="Session not found: nope"), FailureKind.RESUME),
        (Evidence(rpc_code=-32603, text="fetch failed"), FailureKind.PROVIDER),
        (Evidence(text="Error: Could not connect to local model provider at http://x/v1."), FailureKind.PROVIDER),
        # As Codex shows it
        (Evidence(rpc_code=-32600, text="no rollout found for thread id x"), FailureKind.RESUME),
        (Evidence(rpc_code=-32600, text="thread not found: x"), FailureKind.RESUME),
        (Evidence(code="contextWindowExceeded"), FailureKind.CONTEXT),
        (Evidence(code="usageLimitExceeded"), FailureKind.QUOTA),
        (Evidence(code="modelNotFound"), FailureKind.MODEL),
        (Evidence(code="internalServerError", text="We're currently experiencing high demand"), FailureKind.PROVIDER),
        (Evidence(code="other", text="stream disconnected before completion"), FailureKind.PROVIDER),
        (Evidence(code="other", text="Missing environment variable: `A_KEY`."), FailureKind.LOGIN),
        # As a process that ends shows it
        (Evidence(ended=True, exit_code=1), FailureKind.CRASH),
        (Evidence(ended=True, exit_code=0), FailureKind.CRASH),
        (Evidence(ended=True, exit_code=-9), FailureKind.CRASH),
        (Evidence(ended=True, exit_code=-9, out_of_memory=True), FailureKind.MEMORY),
        (Evidence(ended=True, exit_code=1, stderr="x\nError: Session ID y is already in use.\n"), FailureKind.CRASH),
        (Evidence(ended=True, exit_code=1, stderr="Please run /login\n"), FailureKind.LOGIN),
        # Nothing is known
        (Evidence(), FailureKind.PROTOCOL),
    ],
)
def test_the_kind_of_a_failure(evidence: Evidence, kind: FailureKind) -> None:
    assert classify(evidence).kind is kind


def test_chatter_on_stderr_long_before_the_end_says_nothing_about_the_end() -> None:
    stderr = "warning: rate limit file not found\n" * 10 + "segmentation fault\n"
    assert classify(Evidence(ended=True, exit_code=-11, stderr=stderr)).kind is FailureKind.CRASH


def test_a_sentence_names_the_end_and_the_last_word() -> None:
    failed = classify(Evidence(ended=True, exit_code=-9, stderr="one\nfatal: two\n\n"))
    assert failed.sentence == ("The agent's process ended in the middle of its work (killed by signal 9; fatal: two).")
    assert failed.detail == "one\nfatal: two"
    assert failed.session_lost


def test_every_kind_has_a_sentence_of_one_line() -> None:
    for kind in FailureKind:
        sentence = of_kind(kind, "some\nwords " * 200).sentence
        assert "\n" not in sentence
        assert len(sentence) < 500


def test_the_time_of_a_reset_is_read_where_it_is_told() -> None:
    failed = classify(Evidence(text="Claude AI usage limit reached|1796040000"))
    assert failed.kind is FailureKind.QUOTA
    assert failed.resets_at == datetime.fromtimestamp(1796040000, UTC)


@pytest.mark.parametrize("epoch", [None, 0, 1e300, -1e300, float("nan")])
def test_a_time_that_is_none_is_no_time(epoch: float | None) -> None:
    assert moment(epoch) is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("HTTP 401: stub error 401", FailureKind.LOGIN),
        ("Error: Authentication failed with provider at x (HTTP 401).\n  Check your KEY.", FailureKind.LOGIN),
        ("Queued for the next turn. (2 queued)", FailureKind.PROTOCOL),
        ("Error: missing finish_reason for choice 0", FailureKind.PROVIDER),
        ("API Error: 529 Overloaded", FailureKind.PROVIDER),
        ("You've hit your 5-hour limit · resets 5:24pm (UTC)", FailureKind.QUOTA),
        ("You've hit your weekly limit", FailureKind.QUOTA),
        ("Request payload too large (413). Cannot compress further.", FailureKind.CONTEXT),
    ],
)
def test_an_answer_that_is_nothing_but_an_error_is_a_failure(answer: str, kind: FailureKind) -> None:
    failed = error_in(answer)
    assert failed is not None
    assert failed.kind is kind


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "HTTP 401 means that the server does not know you.",
        "Error: is the prefix that the program writes.",
        "The log says: HTTP 401: no key",
        "You've hit your stride; the limit is yours.",
        "Queued for the next turn. That is all I know.",
        "API Error handling is " + "long " * 200,
    ],
)
def test_an_answer_about_errors_is_an_answer(answer: str) -> None:
    assert error_in(answer) is None


def test_text_is_held_back_only_while_it_may_be_an_error() -> None:
    assert all(may_be_error("API Error: 401"[:length]) for length in range(1, 14))
    assert not may_be_error("An answer")
    assert not may_be_error("API Error: " + "x" * 1_000)


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        ("Info: Request failed due to a transient API error. Retrying...", None),
        ("Info: /home/ann/made.txt", None),
        ("Error: Request exceeds the model's prompt budget (488957 tokens; limit 128000).", FailureKind.CONTEXT),
        ("Error: Authentication failed with provider at x (HTTP 401).\n  Check your KEY.", FailureKind.LOGIN),
    ],
)
def test_a_notice_of_the_agent_is_told_from_words_and_an_error_from_news(piece: str, kind: FailureKind | None) -> None:
    assert is_notice(piece)
    failed = error_notice(piece)
    assert (failed.kind if failed else None) is kind


@pytest.mark.parametrize("piece", ["Info: ", "Info: the server is up", "An Error: x", "Inf"])
def test_words_that_only_look_like_a_notice_are_words(piece: str) -> None:
    assert not is_notice(piece)


def test_short_is_one_line_without_a_full_stop() -> None:
    assert short(" a\n b. ") == "a b"
    assert len(short("x" * 1_000)) == 300
