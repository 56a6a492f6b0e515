"""How a session begins, and how it goes on with another model."""

from typing import Any

import pytest

from tests.e2e.house import House

pytestmark = pytest.mark.anyio

BACKENDS = ("fake", "fake-acp", "fake-codex", "fake-pi")


@pytest.fixture
def house(tmp_path: Any) -> House:
    return House(tmp_path, set_model=True)


def last(turn: dict[str, Any]) -> dict[str, Any]:
    dispatch: dict[str, Any] = turn["dispatches"][-1]
    return dispatch


@pytest.mark.parametrize("backend", BACKENDS)
async def test_another_model_goes_on_in_the_same_process_and_what_was_sent_can_be_shown_again(
    house: House, backend: str
) -> None:
    async with house.open() as kai:
        await kai.say(f"/backend {backend}")
        one = await kai.ask("FAKE:pid")
        await kai.say("/model fake-2")
        two = await kai.ask("FAKE:model")
        three = await kai.ask("FAKE:pid")
        assert two["answer_text"] == "fake-2"
        assert three["answer_text"] == one["answer_text"]
        assert last(two)["model"] == "fake-2"
        assert {last(turn)["session"] for turn in (one, two, three)} == {last(one)["session"]}
        assert (await kai.client.verify(two["turn"]))["ok"]


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_session_that_is_taken_up_again_gets_the_model_of_now(house: House, backend: str) -> None:
    async with house.open() as kai:
        await kai.say(f"/backend {backend} fake-2")
        one = await kai.ask("FAKE:remember=plum FAKE:model")
    async with house.open() as kai:
        await kai.say("/model fake-3", external_id="m")
        two = await kai.ask("FAKE:recall FAKE:model", external_id="two")
    assert "fake-2" in one["answer_text"]
    assert "plum" in two["answer_text"]
    assert "fake-3" in two["answer_text"]


async def test_back_to_the_agents_own_default_goes_only_with_a_new_session(house: House) -> None:
    async with house.open() as kai:
        await kai.say("/backend fake fake-2")
        one = await kai.ask("FAKE:remember=plum FAKE:model")
        await kai.say("/model -")
        two = await kai.ask("FAKE:recall FAKE:model")
    assert last(one)["session"] != last(two)["session"]
    assert two["answer_text"].endswith("fake-1")
    assert "plum" not in two["answer_text"]


async def test_a_refused_model_is_a_sentence_and_the_session_goes_on_with_the_old_one(house: House) -> None:
    async with house.open() as kai:
        await kai.say("/backend fake-acp fake-2")
        one = await kai.ask("FAKE:pid")
        await kai.say("/model refused")
        two = await kai.ask("FAKE:pid")
        assert (two["state"], two["failure"], two["dispatches"]) == ("failed", "model", [])
        assert "model not found" in two["reason"]
        await kai.say("/model fake-2")
        assert (await kai.ask("FAKE:pid"))["answer_text"] == one["answer_text"]


@pytest.mark.parametrize("backend", ["fake", "fake-codex", "fake-pi"])
async def test_a_model_that_only_a_new_process_takes_is_given_to_one_of_the_same_session(
    house: House, backend: str
) -> None:
    async with house.open() as kai:
        await kai.say(f"/backend {backend}")
        one = await kai.ask("FAKE:remember=plum FAKE:pid")
        await kai.say("/model refused")
        two = await kai.ask("FAKE:recall FAKE:model FAKE:pid")
    assert "plum" in two["answer_text"]
    assert "refused" in two["answer_text"]
    assert last(one)["run"] != last(two)["run"]


@pytest.mark.parametrize("backend", ["fake-acp", "fake-codex"])
async def test_an_agent_that_is_too_old_gets_no_message_and_one_that_was_updated_needs_no_reload(
    house: House, backend: str
) -> None:
    manifest = house.folders.config / "backends" / backend / "backend.yaml"
    version = house.root / "version"
    version.write_text("2.9.0")
    text = manifest.read_text()
    asked = f'version_argv: ["-c", "print(open({str(version)!r}).read())"]\nversion_min: "2.10"\ninstall: update it\n'
    manifest.write_text("".join(line for line in text.splitlines(True) if "version_argv" not in line) + asked)
    async with house.open() as kai:
        await kai.say(f"/backend {backend}")
        old = await kai.ask("FAKE:pid")
        assert (old["state"], old["failure"]) == ("failed", "old")
        assert "tells version 2.9.0; 2.10 or newer is needed; install it with: update it." in old["reason"]
        assert not [one for one in old["dispatches"] if one["state"] == "sent"]
        version.write_text("2.10.1")
        assert (await kai.ask("FAKE:pid"))["state"] == "done"
