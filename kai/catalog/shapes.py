"""What a ``backend.yaml`` and an agent definition may hold, before they become values of the model."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from kai.model.backends import Can, Limits, Login, ProtocolName
from kai.settings.values import About, shape


@shape
class LaunchShape:
    """How the program is started. `{model}`, `{effort}`, `{session}`, `{backend_dir}`, `{python}` are filled in."""

    program: Annotated[str, About("Name that is looked up on the person's PATH, an absolute path, or {python}.")]
    argv: Annotated[tuple[str, ...], About("Arguments of every start.")] = ()
    resume: Annotated[tuple[str, ...], About("Added when a session is resumed; names {session}.")] = ()
    model: Annotated[tuple[str, ...], About("Added when a model is chosen; names {model}.")] = ()
    effort: Annotated[tuple[str, ...], About("Added when an effort is chosen; names {effort}.")] = ()
    ask: Annotated[tuple[str, ...], About("Added when permissions are 'ask'.")] = ()
    bypass: Annotated[tuple[str, ...], About("Added when permissions are 'bypass'.")] = ()
    temporary: Annotated[tuple[str, ...], About("Added in temporary mode.")] = ()
    program_env: Annotated[str, About("Environment variable of the daemon that names another program.")] = ""
    set_env: Annotated[Mapping[str, str], About("Environment variables that are set.")] = field(default_factory=dict)
    ask_env: Annotated[Mapping[str, str], About("Set as well when permissions are 'ask'.")] = field(
        default_factory=dict
    )
    bypass_env: Annotated[Mapping[str, str], About("Set as well when permissions are 'bypass'.")] = field(
        default_factory=dict
    )
    pass_env: Annotated[tuple[str, ...], About("Variables of the daemon that are passed on.")] = ()
    strip_env: Annotated[
        tuple[str, ...], About("Of those, the ones kept back where a file of `login.files` exists.")
    ] = ()


@shape
class CanShape(Can):
    """What the backend can do, as verified."""


@shape
class LimitsShape(Limits):
    """Limits in seconds and bytes where they differ from kai's own."""


@shape
class LoginShape(Login):
    """How a login is seen, and made."""


@shape
class ManifestShape:
    """``backends/<id>/backend.yaml``."""

    title: Annotated[str, About("Name shown to people.")]
    protocol: Annotated[ProtocolName, About("Language it speaks.")]
    launch: LaunchShape
    can: CanShape = field(default_factory=CanShape)
    limits: LimitsShape = field(default_factory=LimitsShape)
    login: LoginShape = field(default_factory=LoginShape)
    version_argv: Annotated[tuple[str, ...], About("Arguments with which the program tells its version.")] = (
        "--version",
    )
    version_min: Annotated[str, About("Oldest version that is taken.")] = ""
    install: Annotated[str, About("What a person types to install it.")] = ""
    models: Annotated[tuple[str, ...], About("Models offered for choice; others may be named as well.")] = ()
    default_model: Annotated[str, About("Model when none is chosen; empty: the CLI's own.")] = ""
    efforts: Annotated[tuple[str, ...], About("Efforts that may be chosen.")] = ()
    native_prefix: Annotated[Literal["", "/"], About("Prefix of the CLI's own commands, which go bare.")] = ""
    native_commands: Annotated[
        tuple[str, ...], About("Those commands, without prefix; empty: every word behind the prefix.")
    ] = ()
    quirks: Annotated[tuple[str, ...], About("Known oddities, from a closed list.")] = ()
    options: Annotated[Mapping[str, str], About("Options of the protocol, from a closed list.")] = field(
        default_factory=dict
    )
    window_tokens: Annotated[int, About("Context window of the model in tokens; 0: unknown.", 0)] = 0
    baseline_reserve_tokens: Annotated[int, About("Tokens of the CLI's own prompt and tools.", 0)] = 0
    reply_reserve_tokens: Annotated[int, About("Tokens kept free for the answer.", 0)] = 0
    home_files: Annotated[tuple[str, ...], About("Files below home/ that are seeded where missing.")] = ()
    tried: Annotated[bool, About("A release was tried with kai (see its README).")] = True


@shape
class SkillShape:
    """A named instruction text."""

    name: Annotated[str, About("Name by which it is asked for.")]
    summary: Annotated[str, About("The line in the catalogue.")]
    body: Annotated[str, About("The instructions.")] = ""


@shape
class AgentShape:
    """``agents/<name>.yaml``: it shapes behaviour, never access."""

    purpose: Annotated[str, About("What the agent is for, in a sentence or two.")]
    instructions: Annotated[str, About("How it should behave.")] = ""
    capabilities: Annotated[tuple[str, ...], About("What it declares to be able to do.")] = ()
    skills: Annotated[tuple[SkillShape, ...], About("Instruction texts that it may ask for by name.")] = ()
