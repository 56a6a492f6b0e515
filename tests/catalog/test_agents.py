"""Agent definitions: a revision for what is read, and no placeholder that nothing fills."""

from pathlib import Path

import pytest

from kai.catalog import agents
from kai.catalog.agents import PLACEHOLDERS
from kai.model.agents import Skill
from kai.settings.problems import ConfigError

PUMPS = """\
purpose: Keep the pumps running.
instructions: |
  You speak with ${user_name}.
capabilities: [read the sources]
skills:
  - {name: pump-check, summary: test the pumps, body: "Close the valve."}
"""


def _told(*folders: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        agents.load(*folders)
    return [str(problem).rpartition("/")[2] for problem in caught.value.problems]


def test_a_definition_is_loaded_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "pumps.yaml").write_text(PUMPS)
    pumps = agents.load(tmp_path)["pumps"]
    assert (pumps.name, pumps.purpose) == ("pumps", "Keep the pumps running.")
    assert pumps.instructions == "You speak with ${user_name}."
    assert pumps.skills == (Skill("pump-check", "test the pumps", "Close the valve."),)


def test_the_revision_changes_with_what_an_agent_reads_and_with_nothing_else(tmp_path: Path) -> None:
    def revision(text: str) -> str:
        (tmp_path / "pumps.yaml").write_text(text)
        return agents.load(tmp_path)["pumps"].revision

    first = revision(PUMPS)
    assert len(first) == 16
    assert revision("# a comment\n" + PUMPS) == first
    for old, new in (
        ("running", "going"),
        ("${user_name}", "us"),
        ("sources", "code"),
        ("test the", "try the"),
        ("valve", "tap"),
    ):
        assert revision(PUMPS.replace(old, new)) != first


def test_an_own_definition_replaces_a_shipped_one_and_folders_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "shipped").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "shipped/house.yaml").write_text("purpose: shipped\n")
    (tmp_path / "shipped/other.yaml").write_text("purpose: other\n")
    (tmp_path / "own/house.yaml").write_text("purpose: own\n")
    found = agents.load(tmp_path / "shipped", tmp_path / "own")
    assert {name: each.purpose for name, each in found.items()} == {"house": "own", "other": "other"}
    assert agents.load(tmp_path / "gone", tmp_path / "gone") == {}


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_every_known_placeholder_is_allowed(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.yaml").write_text(f"purpose: for ${{{name}}}\n")
    assert agents.load(tmp_path)["a"].purpose == f"for ${{{name}}}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "purpose: ${user_nam}",
            "a.yaml:1:10: purpose: unknown placeholder ${user_nam} (did you mean '${user_name}'?)",
        ),
        ("purpose: x\ninstructions: |\n  ${HOME}", "a.yaml:2:15: instructions: unknown placeholder ${HOME}"),
        ("purpose: x\ncapabilities: [ok, '${}']", "a.yaml:2:20: capabilities[1]: unknown placeholder ${}"),
        (PUMPS.replace("valve", "${x y}"), "skills[0].body: unknown placeholder ${x y}"),
        ("purpose: ''\ninstructionz: x", "a.yaml:2:1: instructionz: unknown setting 'instructionz' (did you mean"),
        ("instructions: x", "a.yaml:1:1: purpose: it is missing"),
        ("purpose: no", "purpose: no is true or false"),
        (PUMPS + "  - {name: pump-check, summary: again}\n", "skills[1].name: a second skill 'pump-check'"),
        (PUMPS.replace("name: pump-check", "name: Pump Check"), "'Pump Check' is no skill's name"),
    ],
)
def test_a_definition_that_says_what_nothing_fills_is_an_error(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    (line,) = _told(tmp_path)
    assert told in line


def test_the_problems_of_all_definitions_come_at_once(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("purpose: 5\n")
    (tmp_path / "c.yml").touch()
    (tmp_path / "Not Good.yaml").write_text("purpose: x\n")
    assert [line.split(":")[0] for line in _told(tmp_path)] == ["Not Good.yaml", "a.yaml", "b.yaml", "c.yml"]


def test_the_time_in_a_definition_is_a_warning_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("purpose: x\ninstructions: It is ${current_time} on ${current_date}.\n")
    assert agents.load(tmp_path)["a"].instructions == "It is ${current_time} on ${current_date}."
    warned = agents.warnings(tmp_path)
    assert [(each.line, each.path) for each in warned] == [(2, "instructions"), (2, "instructions")]
    assert "should stay the same" in warned[0].message


def test_a_definition_is_meant_by_name_in_any_case_by_alias_and_by_revision(tmp_path: Path) -> None:
    (tmp_path / "pumps.yaml").write_text("purpose: pumps\naliases: [Water]\n".replace("Water", "water"))
    (tmp_path / "lamps.yaml").write_text("purpose: lamps\n")
    known = agents.load(tmp_path)
    for word in ("pumps", " PUMPS ", "Water", known["pumps"].revision):
        assert agents.resolved(known, word) is known["pumps"]
    assert agents.resolved(known, "wter") is None


@pytest.mark.parametrize(("alias", "other"), [("lamps", ""), ("light", "aliases: [light]\n"), ("No Name", "")])
def test_an_alias_is_nobody_elses_name(tmp_path: Path, alias: str, other: str) -> None:
    (tmp_path / "pumps.yaml").write_text(f"purpose: pumps\naliases: ['{alias}']\n")
    (tmp_path / "lamps.yaml").write_text(f"purpose: lamps\n{other}")
    (problem,) = _told(tmp_path)
    assert "cannot be another name" in problem
