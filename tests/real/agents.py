"""The real agent CLIs under test: where they are, and what makes each of them talk to the stub model."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kai.catalog import manifests
from kai.model.backends import Manifest
from kai.resources import folder

OFFLINE_VERSION = "1.0.0"
INSTALLED = Path(__file__).parents[2] / ".node/node_modules/.bin"
PATH = f"{INSTALLED}:/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class RealAgent:
    """`env` and `seed` point the CLI at a stub (by its URL): variables of the daemon, and files in a home."""

    backend: str
    program: str
    package: str
    model: str
    env: Callable[[str], dict[str, str]]
    seed: Callable[[Path, str], None]
    loads_only_in_another_minute: bool = False  # see `gemini_settings`
    trims: bool = False  # blanks at the end of a prompt do not arrive
    adds: bool = False  # it puts words of its own before a prompt
    other: str = ""  # another model that it knows
    effort: str = ""  # one that this model has, where the CLI has such

    @property
    def has_model(self) -> bool:
        """Whether a model answers for it, here the stub. The agent that comes with kai has none."""
        return bool(self.package)

    @property
    def is_installed(self) -> bool:
        return not self.has_model or shutil.which(self.program, path=str(INSTALLED)) is not None

    @property
    def pinned(self) -> str:
        """The version that the tests are about."""
        if not self.has_model:
            return OFFLINE_VERSION
        pins = json.loads((Path(__file__).parent / "package.json").read_text())
        return str((pins["dependencies"] | pins["devDependencies"] | pins["config"])[self.package])

    @property
    def manifest(self) -> Manifest:
        return manifests.load(folder("backends"))[self.backend]

    def inherited(self, url: str) -> Mapping[str, str]:
        """The environment of a daemon whose agents are to talk to the stub at `url`."""
        return {"PATH": PATH, "LANG": "C.UTF-8", **self.env(url)}


def anthropic_env(url: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "no-secret"}


def gemini_env(url: str) -> dict[str, str]:
    return {"GEMINI_API_KEY": "no-secret", "GOOGLE_GEMINI_BASE_URL": url}


def copilot_env(url: str) -> dict[str, str]:
    provider = {"BASE_URL": f"{url}/v1", "TYPE": "openai", "API_KEY": "no-secret"}
    own = {"COPILOT_MODEL": "stub-model", "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "1000000"}
    return own | {f"COPILOT_PROVIDER_{name}": value for name, value in provider.items()}


def cline_env(url: str) -> dict[str, str]:
    return {"CLINE_API_KEY": "no-secret", "CLINE_API_BASE_URL": url}


def no_files(home: Path, url: str) -> None:
    """This CLI needs nothing in a home."""


def gemini_settings(home: Path, url: str) -> None:
    """One attempt a request: by default the CLI is silent for minutes while a provider is down."""
    _write(home / ".gemini/settings.json", {"general": {"maxAttempts": 1}})


def opencode_settings(home: Path, url: str) -> None:
    """OpenCode knows its providers from a file only."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "stub",
        "options": {"baseURL": f"{url}/v1", "apiKey": "no-secret"},
        "models": {name: {"name": name} for name in ("stub-model", "other-model")},
    }
    models = {"model": "stub/stub-model", "small_model": "stub/stub-model"}
    _write(home / ".config/opencode/opencode.json", {"provider": {"stub": provider}, **models})


def pi_settings(home: Path, url: str) -> None:
    """Pi knows a provider of one's own from a file only. One attempt a request: by default it tries for 14 s."""
    cost = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}
    model = {"id": "stub-model", "reasoning": True, "input": ["text", "image"], "contextWindow": 128_000, "cost": cost}
    models = [model, {**model, "id": "other-model"}]
    stub = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "no-secret", "models": models}
    _write(home / ".pi/agent/models.json", {"providers": {"stub": stub}})
    chosen = {"defaultProvider": "stub", "defaultModel": "stub-model"}
    _write(home / ".pi/agent/settings.json", {**chosen, "retry": {"baseDelayMs": 100, "maxRetries": 2}})


def codex_config(home: Path, url: str) -> None:
    """Codex knows a provider of its own from a file only; this one is tried twice only: nobody waits for a stub."""
    path = home / ".codex/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        'model_provider = "stub"\n[model_providers.stub]\nname = "stub"\nwire_api = "responses"\n'
        f'base_url = "{url}/v1"\nrequest_max_retries = 1\nstream_max_retries = 1\n'
    )


def codex_env(url: str) -> dict[str, str]:
    """It makes no sandbox for a home below the folder for temporary files, where those of tests are."""
    return {"TMPDIR": "/var/tmp"}


def hermes_settings(home: Path, url: str) -> None:
    """JSON is YAML, too."""
    model = {"default": "stub-model", "provider": "custom", "base_url": f"{url}/v1", "api_key": "no-secret"}
    _write(home / ".hermes/config.yaml", {"model": model | {"context_length": 1_000_000}})


def _write(path: Path, value: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


CLAUDE = RealAgent(
    "claude", "claude", "@anthropic-ai/claude-code", "claude-sonnet-4-5", anthropic_env, no_files,
    other="claude-opus-4-6", effort="high",
)  # fmt: skip
GEMINI = RealAgent(
    "gemini", "gemini", "@google/gemini-cli", "gemini-2.5-pro", gemini_env, gemini_settings,
    loads_only_in_another_minute=True, other="gemini-2.5-flash",
)  # fmt: skip
OPENCODE = RealAgent(
    "opencode", "opencode", "opencode-ai", "", lambda _: {}, opencode_settings, other="stub/other-model"
)
CLAUDE_ACP = RealAgent(
    "claude-agent-acp", "claude-agent-acp", "@agentclientprotocol/claude-agent-acp", "", anthropic_env, no_files,
    other="haiku",
)  # fmt: skip
PI = RealAgent(
    "pi", "pi", "@earendil-works/pi-coding-agent", "stub/stub-model", lambda _: {}, pi_settings,
    other="stub/other-model", effort="high",
)  # fmt: skip
CODEX = RealAgent(
    "codex", "codex", "@openai/codex", "gpt-6.2-sol", codex_env, codex_config, other="gpt-5.5", effort="high"
)
COPILOT = RealAgent("copilot", "copilot", "@github/copilot", "stub-model", copilot_env, no_files, trims=True, adds=True)
HERMES = RealAgent("hermes", "hermes", "hermes", "", lambda _: {}, hermes_settings, trims=True, other="other-model")
CLINE = RealAgent("cline", "cline", "cline", "", cline_env, no_files, trims=True, other="other-model")
OFFLINE = RealAgent("offline", "", "", "", lambda _: {}, no_files)  # comes with kai: nothing to install
AGENTS = (CLAUDE, CODEX, GEMINI, OPENCODE, CLAUDE_ACP, PI, COPILOT, HERMES, CLINE, OFFLINE)
PAIR = (CLAUDE, GEMINI)  # what `make test` installs


def pids_with(name: str, value: str) -> tuple[int, ...]:
    """All live processes (zombies are none) that have this environment variable, but this one."""
    wanted, found = f"{name}={value}".encode(), []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            with suppress(OSError):  # it ended just now
                if wanted in (place / "environ").read_bytes().split(b"\0"):
                    found.append(int(place.name))
    return tuple(found)


def processes_with(name: str, value: str) -> tuple[str, ...]:
    """Their command lines."""
    found = []
    for pid in pids_with(name, value):
        with suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return tuple(found)


def processes_marked(run: str) -> tuple[str, ...]:
    """Those of one run."""
    return processes_with("KAI_RUN", run)
