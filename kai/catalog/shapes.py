"""What a ``backend.yaml`` and an agent definition may hold, before they become values of the model."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from kai.model.agents import Policy
from kai.model.backends import Can, Limits, Login, ProtocolName
from kai.settings.values import setting, shape

Strings = tuple[str, ...]
Variables = Mapping[str, str]


@shape
class LaunchShape:
    """How the program is started. `{model}`, `{effort}`, `{session}`, `{backend_dir}`, `{python}` are filled in."""

    program: str = setting("Name that is looked up on the person's PATH, an absolute path, or {python}.")
    argv: Strings = setting("Arguments of every start.", default=())
    resume: Strings = setting("Added when a session is resumed; names {session}.", default=())
    model: Strings = setting("Added when a model is chosen; names {model}.", default=())
    effort: Strings = setting("Added when an effort is chosen; names {effort}.", default=())
    ask: Strings = setting("Added when permissions are 'ask'.", default=())
    bypass: Strings = setting("Added when permissions are 'bypass'.", default=())
    temporary: Strings = setting("Added in temporary mode.", default=())
    mcp: Strings = setting("Added when it is given MCP servers; names {mcp_config} and {mcp_unasked}.", default=())
    program_env: str = setting("Environment variable of the daemon that names another program.", default="")
    native: Strings = setting(
        "The real program, where the found one only starts it: globs from its folder.", default=()
    )
    set_env: Variables = setting("Environment variables that are set.", default_factory=dict)
    ask_env: Variables = setting("Set as well when permissions are 'ask'.", default_factory=dict)
    bypass_env: Variables = setting("Set as well when permissions are 'bypass'.", default_factory=dict)
    pass_env: Strings = setting("Variables of the daemon that are passed on.", default=())
    strip_env: Strings = setting("Of those, the ones kept back where a file of login.files exists.", default=())


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

    title: str = setting("Name shown to people.")
    protocol: ProtocolName = setting("Language it speaks.")
    launch: LaunchShape = setting("How it is started.")
    can: CanShape = field(default_factory=CanShape)
    limits: LimitsShape = field(default_factory=LimitsShape)
    login: LoginShape = field(default_factory=LoginShape)
    version_argv: Strings = setting("Arguments with which the program tells its version.", default=("--version",))
    version_min: str = setting("Oldest version that is taken.", default="")
    node_min: str = setting("Oldest Node that it runs on, where it is a script for Node.", default="")
    install: str = setting("What a person types to install it.", default="")
    models: Strings = setting("Models offered for choice; others may be named as well.", default=())
    default_model: str = setting("Model when none is chosen; empty: the CLI's own.", default="")
    efforts: Strings = setting("Efforts that may be chosen.", default=())
    native_prefix: Literal["", "/"] = setting("Prefix of the CLI's own commands, which go bare.", default="")
    native_commands: Strings = setting("Those commands, without it; empty: every word behind it.", default=())
    helpers: Strings = setting("Programs that it runs beside its tools; names are cut after 15 bytes.", default=())
    quirks: Strings = setting("Known oddities, from a closed list.", default=())
    options: Variables = setting("Options of the protocol, from a closed list.", default_factory=dict)
    window_tokens: int = setting("Context window of the model in tokens; 0: unknown.", 0, default=0)
    baseline_reserve_tokens: int = setting("Tokens of the CLI's own prompt and tools.", 0, default=0)
    reply_reserve_tokens: int = setting("Tokens kept free for the answer.", 0, default=0)
    tried: bool = setting("A release was tried with kai (see its README).", default=True)


@shape
class SkillShape:
    """A named instruction text."""

    name: str = setting("Name by which it is asked for.")
    summary: str = setting("The line in the catalogue.")
    body: str = setting("The instructions.", default="")


@shape
class PolicyShape:
    """What the agent reads of memory. Namespaces with whole segments as ``*``; an empty list means nothing."""

    inject: Strings = setting("Namespaces that go along by themselves.", default=Policy().inject)
    tool: Strings = setting("Namespaces that a search by tool may read.", default=Policy().tool)
    top_k: int = setting("Records that go along at most.", 0, default=Policy().top_k)
    min_score: float = setting("Score below which none goes along.", 0, 1, default=Policy().min_score)
    max_tokens: int = setting("Tokens that they take at most.", 0, default=Policy().max_tokens)
    own_only: bool = setting("Records of this definition alone.", default=Policy().own_only)
    write: Strings = setting("Namespaces that its tools may save to and correct in.", default=Policy().write)
    delete: Strings = setting("Namespaces that its tools may forget in.", default=Policy().delete)
    learn: Literal["off", "observe", "auto"] = setting(
        "What a person states by the way: 'off' makes nothing of it, 'observe' keeps it until it is accepted or turned "
        "down, 'auto' remembers it; either stands below the answer.",
        default=Policy().learn,
    )
    save_runs: bool = setting("Keep longer requests and their answers as episodes.", default=Policy().save_runs)


@shape
class AgentShape:
    """``agents/<name>.yaml``: it shapes behaviour, never access."""

    purpose: str = setting("What the agent is for, in a sentence or two.")
    instructions: str = setting("How it should behave.", default="")
    capabilities: Strings = setting("What it declares to be able to do.", default=())
    aliases: Strings = setting("Other names by which agents may call it.", default=())
    skills: tuple[SkillShape, ...] = setting("Instruction texts that it may ask for by name.", default=())
    memory: PolicyShape = field(default_factory=PolicyShape)
