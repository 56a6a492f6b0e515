"""``kai check-config``."""

import json
from pathlib import Path

from tests.commands.conftest import Kai


def test_a_good_configuration_is_well(kai: Kai, folders: list[str]) -> None:
    assert kai("check-config") == (0, f"The configuration in {folders[1]} is well.\n", "")
    assert json.loads(kai("check-config", "--json")[1]) == []


def test_every_problem_of_every_file_has_its_position(kai: Kai, folders: list[str]) -> None:
    Path(folders[1], "kai.yaml").write_text("agent: house\nbackend: 12\nagnet: x\n")
    Path(folders[1], "people.yaml").write_text("ann:\n  zone: Nowhere/Land\n")
    status, out, _ = kai("check-config")
    assert status == 1
    for place in ("kai.yaml:2:10", "kai.yaml:3:1", "people.yaml:2:9"):
        assert place in out
    assert "did you mean 'agent'?" in out
    found = json.loads(kai("check-config", "--json")[1])
    assert {(Path(one["file"]).name, one["line"]) for one in found} == {
        ("kai.yaml", 2),
        ("kai.yaml", 3),
        ("people.yaml", 2),
    }


def test_a_name_that_is_not_there_is_told_beside_whatever_else_is_wrong(kai: Kai, folders: list[str]) -> None:
    config = Path(folders[1])
    (config / "kai.yaml").write_text("agent: huose\nbackend: claud\nagnet: x\n")
    (config / "people.yaml").write_text("ann:\n  zone: Nowhere/Land\n  backend: gemni\n")
    (config / "backends/mine").mkdir(parents=True)
    (config / "backends/mine/backend.yaml").write_text("titel: x\n")
    out = kai("check-config")[1]
    for name in ("'house'?", "'claude'?", "'gemini'?", "'agent'?", "Nowhere/Land", "backend.yaml:1:1"):
        assert name in out
    (config / "people.yaml").write_text("ann: {backend: mine}\n")
    assert "people.yaml" not in kai("check-config")[1]
