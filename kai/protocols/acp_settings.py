"""What is set in a session of an ACP agent, in order: its permissions, its model, its effort. Pure."""

from kai.model.errors import FailureKind
from kai.protocols.driver import DriverSetup
from kai.wire.values import Json

Setting = tuple[str, Json, FailureKind]  # method, parameters, what it means when the agent refuses


def permissions(setup: DriverSetup) -> list[Setting]:
    """Of the session as it begins."""
    wanted = list[Setting]()
    if mode := setup.option(f"mode_{setup.permissions}"):
        wanted.append(("session/set_mode", {"modeId": mode}, FailureKind.UNSUPPORTED))
    if config := setup.option(f"config_{setup.permissions}"):
        wanted.append(_config(*config.partition("=")[::2], FailureKind.UNSUPPORTED))
    return wanted


def engine(setup: DriverSetup, model: str, effort: str) -> list[Setting]:
    """Model before effort: with another model some agents have other efforts. Empty: as it is."""
    wanted = list[Setting]()
    model_by = setup.option("model_by")
    if model and model_by == "set_model":
        wanted.append(("session/set_model", {"modelId": model}, FailureKind.MODEL))
    elif model and model_by == "config":
        wanted.append(_config("model", model, FailureKind.MODEL))
    if effort and (name := setup.option("effort_config")):
        wanted.append(_config(name, effort, FailureKind.UNSUPPORTED))
    return wanted


def _config(config: str, value: str, kind: FailureKind) -> Setting:
    return "session/set_config_option", {"configId": config, "value": value}, kind
