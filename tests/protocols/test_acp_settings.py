"""What is set in a session of an ACP agent."""

from dataclasses import replace

from kai.model.backends import ProtocolName
from kai.model.errors import FailureKind
from kai.protocols.acp_settings import engine, permissions
from kai.protocols.driver import DriverSetup
from tests.protocols.agents import manifest


def setup(**options: str) -> DriverSetup:
    return DriverSetup(manifest(ProtocolName.ACP, **options), "/cwd")


def test_permissions_are_a_mode_or_a_config_option_as_the_manifest_says() -> None:
    made = setup(mode_ask="default", config_bypass="allow_all=on")
    unsupported = FailureKind.UNSUPPORTED
    assert permissions(made) == [("session/set_mode", {"modeId": "default"}, unsupported)]
    config = {"configId": "allow_all", "value": "on"}
    assert permissions(replace(made, permissions="bypass")) == [("session/set_config_option", config, unsupported)]


def test_the_model_is_set_before_the_effort_and_what_is_not_chosen_is_left() -> None:
    made = setup(model_by="config", effort_config="depth")
    assert [params for _, params, _ in engine(made, "m", "low")] == [
        {"configId": "model", "value": "m"},
        {"configId": "depth", "value": "low"},
    ]
    assert engine(setup(model_by="set_model"), "m", "low") == [
        ("session/set_model", {"modelId": "m"}, FailureKind.MODEL)
    ]
    assert engine(setup(model_by="set_model"), "", "") == []
    assert engine(setup(), "m", "") == []
