"""A first manifest from what an agent told in its handshake."""

from typing import Any

import pytest

from kai.catalog.draft import draft

TOLD = {
    "agentInfo": {"name": "my-agent", "title": "My Agent", "version": "1.2"},
    "agentCapabilities": {"loadSession": True, "promptCapabilities": {"image": True}},
}


def drafted(session: Any = None, told: Any = None, resumes: bool | None = None) -> tuple[dict[str, Any], str]:
    answers = {"initialize": {**TOLD, **(told or {})}, "session/new": session or {}}
    made, found = draft(("agent", "--acp"), answers, resumes=resumes)
    return made, "\n".join(found)


def test_what_was_told_stands_in_the_manifest_and_nothing_else() -> None:
    made, found = drafted()
    assert made == {
        "title": "My Agent",
        "protocol": "acp",
        "launch": {"program": "agent", "argv": ["--acp"]},
        "can": {"resume": False, "images": True},
    }
    assert "It calls itself My Agent 1.2" in found


@pytest.mark.parametrize(("resumes", "words"), [(True, "it did"), (False, "it failed"), (None, "not tried")])
def test_a_session_is_taken_up_only_where_that_was_seen(resumes: bool | None, words: str) -> None:
    made, found = drafted(resumes=resumes)
    assert made["can"]["resume"] is (resumes is True)
    assert f"says yes, {words}" in found


def test_a_mode_that_promises_to_ask_for_nothing_is_the_bypass_and_the_present_one_asks() -> None:
    modes = {"currentModeId": "default", "availableModes": [{"id": "plan"}, {"id": "default"}, {"id": "yolo"}]}
    made, found = drafted({"modes": modes})
    assert made["options"] == {"mode_ask": "default", "mode_bypass": "yolo"}
    assert "look whether that is so" in found


@pytest.mark.parametrize(
    ("option", "ask", "bypass"),
    [
        ({"id": "auto_approve", "currentValue": False}, "auto_approve=false", "auto_approve=true"),
        ({"id": "allow_all", "currentValue": "off"}, "allow_all=off", "allow_all=on"),
    ],
)
def test_where_no_mode_does_it_a_config_option_may(option: Any, ask: str, bypass: str) -> None:
    made, _ = drafted({"configOptions": [{"id": "theme", "currentValue": False}, option]})
    assert made["options"] == {"config_ask": ask, "config_bypass": bypass}


def test_models_are_listed_with_the_way_to_choose_them() -> None:
    made, _ = drafted({"models": {"availableModels": [{"modelId": f"m{number}"} for number in range(30)]}})
    assert (made["options"], len(made["models"])) == ({"model_by": "set_model"}, 20)
    made, _ = drafted({"configOptions": [{"id": "model", "options": [{"value": "a"}], "currentValue": ["x"]}]})
    assert (made["options"], made["models"]) == ({"model_by": "config"}, ["a"])


@pytest.mark.parametrize(
    ("method", "command"),
    [
        ({"id": "x", "_meta": {"terminal-auth": {"command": "/opt/agent", "args": ["login"]}}}, "agent login"),
        ({"id": "x", "type": "terminal", "args": ["--setup"]}, "agent --acp --setup"),
    ],
)
def test_a_login_in_a_terminal_becomes_the_login_command(method: Any, command: str) -> None:
    made, _ = drafted(told={"authMethods": [{"id": "key", "name": "API key"}, method]})
    assert made["login"] == {"command": command}


@pytest.mark.parametrize("nonsense", [7, None, [], {"modes": 7, "models": [], "configOptions": [7, {"id": 7}]}])
def test_nonsense_is_nothing_told(nonsense: Any) -> None:
    made, found = draft(("agent",), {"initialize": nonsense, "session/new": nonsense}, resumes=None)
    assert made["title"] == "agent"
    assert found
