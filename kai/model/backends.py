"""A backend as its manifest describes it, and the machine limits of a session."""

from dataclasses import dataclass, field
from enum import StrEnum


class ProtocolName(StrEnum):
    STREAM_JSON = "stream_json"
    APP_SERVER = "app_server"
    PI_RPC = "pi_rpc"
    ACP = "acp"


@dataclass(frozen=True, slots=True)
class Limits:
    """Every wait has a limit and every limit a name. Monotonic seconds. 0 switches `first_output_s` or `turn_s` off."""

    start_s: float = 30.0  # spawn until the session is ready
    first_output_s: float = 180.0  # prompt until the first sign of life
    silence_s: float = 600.0  # between signs of life (any frame, or CPU used by any descendant)
    turn_s: float = 7200.0  # whole turn
    ask_s: float = 900.0  # a person's answer to a question
    stop_s: float = 5.0  # interrupt until the turn's end
    eof_s: float = 3.0  # stdin closed until exit
    term_s: float = 2.0  # TERM until exit
    write_s: float = 30.0  # one frame into the pipe
    line_bytes: int = 64 * 1024 * 1024
    turn_bytes: int = 64 * 1024 * 1024  # text of one turn
    repeats: int = 200  # identical chunks in a row before the turn counts as a loop


@dataclass(frozen=True, slots=True)
class Can:
    """What a backend can do, as verified."""

    resume: bool = False
    interrupt: bool = True
    steer: bool = False
    set_model: bool = False
    images: bool = False
    mcp: bool = False
    temporary: bool = False  # its own memory and transcript can be switched off


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How to start a backend. `{model}`, `{effort}`, `{session}`, `{backend_dir}`, `{python}` are filled in argv parts
    and in the values of environment variables; in `mcp`, for CLIs that are told of MCP servers by arguments,
    `{mcp_config}` (``{"mcpServers": …}`` as JSON) and `{mcp_unasked}` (names of tools that run without a question).

    A group (`resume`, `model`, …) is appended whole when its value is known, else left out.
    """

    program: str
    argv: tuple[str, ...]
    resume: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    effort: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    bypass: tuple[str, ...] = ()
    temporary: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    program_env: str = ""  # an environment variable that names another program
    native: tuple[
        str, ...
    ] = ()  # where the real program lies beside a script that only starts it: globs from its folder
    set_env: tuple[tuple[str, str], ...] = ()
    pass_env: tuple[str, ...] = ()
    strip_env: tuple[
        str, ...
    ] = ()  # kept back, and said, where one of `Login.files` exists: it would override that login
    ask_env: tuple[tuple[str, str], ...] = ()  # set as well when permissions are "ask"
    bypass_env: tuple[tuple[str, str], ...] = ()  # … or "bypass", for CLIs that take them from the environment only


@dataclass(frozen=True, slots=True)
class Login:
    """How to see whether a person is logged in, and what they run to do so.

    Logged in when any of `files` exists below the home or any of `env` is set; with neither listed: unknown.
    """

    command: str = ""
    files: tuple[str, ...] = ()
    env: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """``backends/<id>/backend.yaml`` after validation. `folder` is absolute. `native_prefix` "": no native commands."""

    id: str
    title: str
    protocol: ProtocolName
    launch: LaunchPlan
    folder: str
    can: Can = field(default_factory=Can)
    limits: Limits = field(default_factory=Limits)
    login: Login = field(default_factory=Login)
    version_argv: tuple[str, ...] = ("--version",)
    version_min: str = ""
    node_min: str = ""  # the oldest Node under which the program runs, where it is a script for it
    install: str = ""  # what a person types to install it
    models: tuple[str, ...] = ()
    default_model: str = ""
    efforts: tuple[str, ...] = ()
    native_prefix: str = ""
    native_commands: tuple[str, ...] = ()  # empty with a prefix: every word behind the prefix
    helpers: tuple[str, ...] = ()  # programs beside its tools, as the kernel names them: what they do is no work
    quirks: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()  # protocol options, such as acp's auth_method or mode_bypass
    window_tokens: int = 0
    baseline_reserve_tokens: int = 0
    reply_reserve_tokens: int = 0
    home_files: tuple[str, ...] = ()
    tried: bool = True
