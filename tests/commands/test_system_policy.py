"""The policy of the spawner names what is installed, and keeps what people and operators put there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kai.catalog.manifests import load
from kai.commands import system_policy
from kai.commands.system_policy import policy
from kai.resources import folder
from tests.processes.os_users import needs_root, root_folder

MANIFESTS = tuple(load(folder("backends")).values())
PYTHON = "/usr/bin/env"  # any program of root's


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with root_folder() as path:
        monkeypatch.setattr(system_policy, "SERVICE_PATH", str(path))
        yield path


def install(path: Path) -> str:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@needs_root
def test_a_new_policy_names_the_agent_clis_that_are_there_and_nobody(programs: Path) -> None:
    claude = install(programs / "claude")
    found = json.loads(policy("", MANIFESTS, "kai", PYTHON))
    assert found["programs"] == sorted([PYTHON, claude])
    assert (found["users"], found["daemon_user"], found["min_uid"]) == ([], "kai", 1000)
    for name in ("ANTHROPIC_API_KEY", "HTTPS_PROXY", "GOOSE_MODE"):
        assert name in found["env"]


@needs_root
def test_users_limits_and_what_the_operator_added_stay_and_what_is_gone_goes(programs: Path) -> None:
    own, gone = install(programs / "own-agent"), str(programs / "gone")
    before = {
        "daemon_user": "kai",
        "users": ["alice"],
        "min_uid": 2000,
        "programs": [own, gone],
        "env": ["MINE"],
        "limits": {"pids": 64},
    }
    found = json.loads(policy(json.dumps(before), MANIFESTS, "kai", PYTHON))
    assert (found["users"], found["min_uid"], found["limits"]) == (["alice"], 2000, {"pids": 64})
    assert own in found["programs"]
    assert gone not in found["programs"]
    assert "MINE" in found["env"]
    again = policy(json.dumps(found), MANIFESTS, "kai", PYTHON)
    assert json.loads(again) == found


@needs_root
def test_a_program_that_somebody_else_could_exchange_is_left_out(programs: Path) -> None:
    install(programs / "claude")
    (programs / "claude").chmod(0o777)
    assert json.loads(policy("", MANIFESTS, "kai", PYTHON))["programs"] == [PYTHON]


def test_a_policy_that_cannot_be_read_is_not_written_over() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        policy("{", MANIFESTS, "kai", PYTHON)
