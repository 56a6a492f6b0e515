"""The stub as a server: its log, its control call, its end."""

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from tests.stub_model import Place, StubModel
from tests.stub_model.dialects import ANTHROPIC, CHAT

NASTY = "a\r\nb \u00a0 \u2028 \u202e \u200b \x00 trailing  "


def test_a_request_is_kept_character_for_character_and_found_by_place(model: StubModel, http: httpx.Client) -> None:
    http.post("/v1/messages", json=ANTHROPIC.ask(f"{NASTY}and more"), headers={"x-api-key": "secret"})
    (request,) = model.requests()
    assert request.places(NASTY) == (Place(".messages[0].content[0].text", 1, len("and more")),)
    assert request.headers["x-api-key"] == "…"
    assert request.offers_tools


def test_the_log_file_holds_one_json_line_a_request(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with StubModel(log=log) as model:
        # A lone surrogate can only come in as a JSON escape.
        body = json.dumps(ANTHROPIC.ask(f"\ud800{NASTY}"))
        httpx.post(f"{model.url}/v1/messages", content=body, trust_env=False)
        httpx.head(f"{model.url}/api/hello", trust_env=False)
    lines = [json.loads(line) for line in log.read_text().split("\n") if line]
    assert [line["method"] for line in lines] == ["POST", "HEAD"]
    assert lines[0]["body"]["messages"][0]["content"][0]["text"] == f"\ud800{NASTY}"


def test_bodies_may_come_chunked_and_compressed(model: StubModel, http: httpx.Client) -> None:
    data = gzip.compress(json.dumps(CHAT.ask("STUB:say=unpacked;;")).encode())
    half = len(data) // 2
    response = http.post(
        "/v1/chat/completions", content=iter([data[:half], data[half:]]), headers={"content-encoding": "gzip"}
    )
    assert CHAT.text(response.json()) == "unpacked"
    assert model.requests()[0].headers["transfer-encoding"] == "chunked"


def test_a_forced_fault_meets_every_request_until_it_is_lifted(model: StubModel, http: httpx.Client) -> None:
    http.post("/_control", json={"force": "err=503"})
    assert http.post("/v1/messages", json=ANTHROPIC.ask("hi")).status_code == 503
    assert http.post("/v1/chat/completions", json=CHAT.ask("hi")).status_code == 503
    model.force("")
    assert http.post("/v1/messages", json=ANTHROPIC.ask("hi")).status_code == 200
    assert http.post("/_control", json={"force": "no such!"}).status_code == 422


def test_lists_of_models_and_counts_of_tokens_are_answered(http: httpx.Client) -> None:
    assert http.get("/v1/models").json()["data"][0]["id"] == "stub-model"
    assert "models" in http.get("/v1beta/models").json()
    assert http.post("/v1/messages/count_tokens", json={}).json()["input_tokens"] >= 1
    assert http.post("/v1beta/models/x:countTokens", json={}).json()["totalTokens"] >= 1


def test_what_the_stub_does_not_speak_is_refused_by_name(http: httpx.Client) -> None:
    assert http.get("/nowhere").status_code == 404
    assert "/nowhere" in http.post("/nowhere", json={}).text
    assert http.post("/v1/messages", content=b"{").status_code == 400


def test_waiting_for_a_request_that_never_comes_ends_at_the_limit(model: StubModel) -> None:
    with pytest.raises(TimeoutError, match="no such request"):
        model.wait(lambda request: request.method == "POST", limit_s=0.05)


def test_waiting_sees_a_request_that_comes_later(model: StubModel) -> None:
    url = f"{model.url}/v1/messages"
    asking = threading.Thread(target=lambda: httpx.post(url, json=ANTHROPIC.ask("late"), trust_env=False))
    asking.start()
    assert model.wait(lambda request: bool(request.places("late"))).path == "/v1/messages"
    asking.join()


def test_closing_ends_a_request_that_hangs(tmp_path: Path) -> None:
    with StubModel() as model:
        failed = threading.Event()

        def ask() -> None:
            try:
                httpx.post(f"{model.url}/v1/messages", json=ANTHROPIC.ask("STUB:hang"), trust_env=False, timeout=30)
            except httpx.TransportError:
                failed.set()

        asking = threading.Thread(target=ask)
        asking.start()
        model.wait(lambda request: request.plan == "Silence()")
    asking.join(5)
    assert failed.is_set()


def test_as_a_program_it_says_its_address_and_ends_on_a_signal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    argv = [sys.executable, "-m", "tests.stub_model", "--port", "0", "--log", str(log)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path.cwd(), env=dict(os.environ)) as program:
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        assert httpx.get(f"{url}/v1/models", trust_env=False).status_code == 200
        program.send_signal(signal.SIGTERM)
        assert program.wait(10) == 0
    assert "/v1/models" in log.read_text()
