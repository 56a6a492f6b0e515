"""The same behaviour in every API, over real HTTP."""

import json
import time

import httpx
import pytest

from tests.stub_model import StubModel
from tests.stub_model.dialects import DIALECTS, Dialect, Json, events

every_api = pytest.mark.parametrize("api", DIALECTS, ids=lambda api: api.name)


def ask(http: httpx.Client, api: Dialect, body: Json, *, stream: bool = False) -> httpx.Response:
    return http.post(api.path(stream), json=api.body(body, stream=stream))


def collect(response: httpx.Response, seen: list[str]) -> None:
    """Lines into `seen` one by one, so that what came before an error stays."""
    seen.extend(response.iter_lines())


def pieces(api: Dialect, payloads: list[str]) -> list[str]:
    found = [api.piece(json.loads(payload)) for payload in payloads if payload != "[DONE]"]
    return [piece for piece in found if piece]


@every_api
def test_a_text_is_answered_whole_or_in_pieces_with_the_same_words(http: httpx.Client, api: Dialect) -> None:
    body = api.ask("STUB:say=the answer is longer than one piece of it, as answers are;;")
    whole = api.text(ask(http, api, body).json())
    payloads = events(ask(http, api, body, stream=True))
    assert whole == "the answer is longer than one piece of it, as answers are"
    assert len(pieces(api, payloads)) > 1
    assert "".join(pieces(api, payloads)) == whole
    assert api.last(payloads)


@every_api
def test_a_tool_is_called_with_arguments_that_fit_and_its_result_is_told_back(http: httpx.Client, api: Dialect) -> None:
    answer = ask(http, api, api.ask("STUB:bash=echo hi;;")).json()
    _, arguments = api.call(answer)
    assert arguments == {"command": "echo hi"}
    assert api.text(ask(http, api, api.after_tool("it said hi")).json()).startswith("tool said: ")


@every_api
def test_a_streamed_tool_call_bears_the_same_arguments(http: httpx.Client, api: Dialect) -> None:
    payloads = events(ask(http, api, api.ask("STUB:bash=echo hi, at some length;;"), stream=True))
    arguments = "".join(api.call_piece(json.loads(payload)) for payload in payloads if payload != "[DONE]")
    assert json.loads(arguments) == {"command": "echo hi, at some length"}
    assert api.last(payloads)


@every_api
def test_an_error_has_its_status_and_says_so_in_the_provider_s_shape(http: httpx.Client, api: Dialect) -> None:
    response = ask(http, api, api.ask("STUB:retry=429*1"))
    assert response.status_code == 429
    assert response.headers["retry-after"] == "1"
    assert response.json()["error"]["message"] == "stub error 429"
    assert api.text(ask(http, api, api.ask("STUB:retry=429*1")).json()) == "ok after 1 errors"


@every_api
def test_a_usage_limit_tells_when_it_ends(http: httpx.Client, api: Dialect) -> None:
    resets_at = int(time.time()) + 3600
    response = ask(http, api, api.ask(f"STUB:limit={resets_at}"))
    assert response.status_code == 429
    assert response.headers["anthropic-ratelimit-unified-reset"] == str(resets_at)
    assert 3590 <= int(response.headers["retry-after"]) <= 3600
    assert "The usage limit has been reached" in response.json()["error"]["message"]


@every_api
def test_a_dropped_stream_ends_without_its_end(http: httpx.Client, api: Dialect) -> None:
    payloads = events(ask(http, api, api.ask("STUB:drop"), stream=True))
    assert pieces(api, payloads) == ["partial one ", "partial two "]
    assert not api.last(payloads)


@every_api
def test_a_stalled_stream_stays_open_and_silent(model: StubModel, api: Dialect) -> None:
    seen: list[str] = []
    body = api.body(api.ask("STUB:hang2"), stream=True)
    with (
        httpx.Client(base_url=model.url, trust_env=False, timeout=0.5) as http,
        http.stream("POST", api.path(True), json=body) as response,
        pytest.raises(httpx.ReadTimeout),
    ):
        collect(response, seen)
    payloads = [line.removeprefix("data: ") for line in seen if line.startswith("data: ")]
    assert pieces(api, payloads) == ["partial one ", "partial two "]


@every_api
def test_an_answer_in_one_piece_that_is_dropped_never_begins(http: httpx.Client, api: Dialect) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        ask(http, api, api.ask("STUB:drop"))


@every_api
def test_a_hung_request_is_recorded_and_never_answered(model: StubModel, api: Dialect) -> None:
    with httpx.Client(base_url=model.url, trust_env=False, timeout=0.3) as http, pytest.raises(httpx.ReadTimeout):
        ask(http, api, api.ask("STUB:hang"), stream=True)
    assert model.wait(lambda request: request.plan == "Silence()").method == "POST"


@every_api
def test_reasoning_comes_before_the_text(http: httpx.Client, api: Dialect) -> None:
    streamed = "\n".join(events(ask(http, api, api.ask("STUB:think"), stream=True)))
    assert "thought and done" in streamed
    if api.name != "responses":  # that API hides reasoning
        assert streamed.index("let me think") < streamed.index("thought and done")


@every_api
def test_a_reminder_beside_the_words_decides_nothing(http: httpx.Client, api: Dialect) -> None:
    text = "STUB:say=mine;;\n<system-reminder>STUB:say=not this;;</system-reminder>"
    assert api.text(ask(http, api, api.ask(text)).json()) == "mine"
