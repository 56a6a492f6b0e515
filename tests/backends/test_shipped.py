"""The manifests that ship: complete, told in their READMEs, and true to what they name."""

import json
import sys
from pathlib import Path

import pytest

from kai.catalog.discover import discover
from kai.catalog.manifests import load
from kai.model.backends import Manifest, ProtocolName
from kai.resources import folder

MANIFESTS = load(folder("backends"))


@pytest.fixture(params=sorted(MANIFESTS))
def manifest(request: pytest.FixtureRequest) -> Manifest:
    return MANIFESTS[request.param]


def _told(manifest: Manifest) -> str:
    """The README, with that of another backend when it points there."""
    told = (Path(manifest.folder) / "README.md").read_text()
    others = [Path(other.folder) / "README.md" for other in MANIFESTS.values() if f"backends/{other.id}/README" in told]
    return told + "".join(path.read_text() for path in others)


def test_the_backends_of_this_release_are_there() -> None:
    assert list(MANIFESTS) == [
        "claude",
        "claude-agent-acp",
        "cline",
        "codex",
        "copilot",
        "gemini",
        "goose",
        "hermes",
        "offline",
        "opencode",
        "pi",
    ]
    others = {name: each.protocol.value for name, each in MANIFESTS.items() if each.protocol is not ProtocolName.ACP}
    assert others == {"claude": "stream_json", "codex": "app_server", "pi": "pi_rpc"}


def test_what_nobody_has_run_is_marked() -> None:
    assert [name for name, manifest in MANIFESTS.items() if not manifest.tried] == ["goose"]
    assert "**Untried**" in (folder("backends") / "goose/README.md").read_text()


def test_its_readme_tells_the_versions_tried_and_its_quirks(manifest: Manifest) -> None:
    told = (Path(manifest.folder) / "README.md").read_text()
    assert told.startswith("# ")
    assert "## Versions tried" in told
    assert "## Quirks" in told
    assert "| 2026-" in told
    assert manifest.install in told


def test_its_readme_tells_every_switch_every_key_and_every_quirk(manifest: Manifest) -> None:
    launch = manifest.launch
    switches = [name for name, _ in (*launch.set_env, *launch.ask_env, *launch.bypass_env)]
    names = [*switches, *launch.strip_env, *manifest.quirks, launch.program_env]
    assert [name for name in names if name not in _told(manifest)] == []


def test_every_file_that_it_names_in_its_folder_is_there(manifest: Manifest) -> None:
    launch = manifest.launch
    parts = [*launch.argv, *launch.ask, *launch.bypass, *manifest.version_argv, *(value for _, value in launch.set_env)]
    for part in parts:
        if "{backend_dir}" in part:
            assert Path(part.replace("{backend_dir}", manifest.folder)).exists()


def test_a_key_that_would_override_a_login_is_kept_back_only_where_there_is_a_login(manifest: Manifest) -> None:
    assert set(manifest.launch.strip_env) <= set(manifest.launch.pass_env)
    assert set(manifest.launch.strip_env) <= set(manifest.login.env)
    assert not manifest.launch.strip_env or manifest.login.files


def test_permissions_are_said_in_both_ways_or_in_none(manifest: Manifest) -> None:
    launch, options = manifest.launch, dict(manifest.options)
    said = [
        (launch.ask, launch.bypass),
        (launch.ask_env, launch.bypass_env),
        (options.get("mode_ask"), options.get("mode_bypass")),
        (options.get("config_ask"), options.get("config_bypass")),
    ]
    assert all(bool(ask) == bool(bypass) for ask, bypass in said)
    # The offline agent asks for nothing of weight; Codex is told with every thread, by its driver.
    assert any(ask for ask, _ in said) or manifest.id in ("offline", "codex")


def test_what_is_handed_over_as_json_is_json() -> None:
    for _, value in (*MANIFESTS["opencode"].launch.ask_env, *MANIFESTS["opencode"].launch.bypass_env):
        assert set(json.loads(value).values()) in ({"ask"}, {"allow"})
    defaults = json.loads((folder("backends") / "gemini/system-defaults.json").read_text())
    assert defaults["telemetry"] == {"enabled": False}


def test_the_offline_agent_is_always_found(tmp_path: Path) -> None:
    found = discover(MANIFESTS["offline"], path="", home=tmp_path, env={})
    assert (found.program, found.version, found.problem) == (sys.executable, "1.0.0", "")
