"""What stands in config/ is what the settings say: generated, complete, and loadable as it is."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from kai.catalog import agents
from kai.resources import folder
from kai.settings.load import inspect, load
from kai.settings.schema import validated, written_settings
from kai.settings.schema_export import files
from kai.settings.values import About, PersonEntry, Settings, Workspace
from kai.settings.where import Folders
from kai.settings.yaml_marks import KeyPath, parse

CONFIG = folder("config")


@pytest.mark.parametrize("name", sorted(files()))
def test_a_generated_file_is_up_to_date(name: str) -> None:
    assert (CONFIG / name).read_text() == files()[name], "run 'make schema'"


def test_the_command_writes_the_files(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "kai.settings.schema_export", str(tmp_path)], check=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files()


def _paths(cls: Any, prefix: KeyPath = ()) -> list[KeyPath]:
    found: list[KeyPath] = []
    for name, about in written_settings(cls).items():
        found += [(*prefix, name)] if isinstance(about, About) else _paths(about, (*prefix, name))
    return found


def _copied(tmp_path: Path, *names: str) -> Folders:
    for name in names:
        (tmp_path / f"{name}.yaml").write_text((CONFIG / f"{name}.example.yaml").read_text())
    return Folders(tmp_path, tmp_path, tmp_path)


def test_the_example_is_exactly_the_defaults_and_holds_every_setting(tmp_path: Path) -> None:
    assert load(_copied(tmp_path, "kai")) == Settings()
    marked = parse((CONFIG / "kai.example.yaml").read_bytes(), "f")
    assert [path for path in _paths(Settings) if path not in marked.values] == []


def test_every_setting_of_the_example_has_a_comment_above_it() -> None:
    lines = (CONFIG / "kai.example.yaml").read_text().splitlines()
    for before, line in pairwise(lines):
        assert not line.strip() or line.lstrip().startswith("#") or before.lstrip().startswith("#"), line


def test_the_examples_of_people_and_workspaces_load_and_hold_every_setting(tmp_path: Path) -> None:
    found = inspect(_copied(tmp_path, "people", "workspaces"))
    assert found.problems == ()
    assert found.settings is not None
    assert found.settings.person("guest") == PersonEntry(name="guest")
    assert found.settings.workspace("plain") == Workspace(path="/srv/projects/plain", name="plain")
    for prefix, cls, names in (
        ("persons", PersonEntry, ("ann", "guest")),
        ("workspaces", Workspace, ("garden", "plain")),
    ):
        for name in names:
            assert [p for p in _paths(cls) if f"{prefix}.{name}.{p[0]}" not in found.places] == []


def test_the_example_of_an_agent_definition_loads(tmp_path: Path) -> None:
    (tmp_path / "pumps.yaml").write_text((CONFIG / "agent.example.yaml").read_text())
    assert set(agents.load(tmp_path)) == {"pumps"}
    assert agents.warnings(tmp_path) == ()


@pytest.mark.parametrize(
    ("schema", "example"),
    [("kai", "kai"), ("people", "people"), ("workspaces", "workspaces"), ("agent", "agent")],
)
def test_an_example_fits_its_schema(schema: str, example: str) -> None:
    validator = jsonschema.Draft202012Validator(yaml.safe_load((CONFIG / f"{schema}.schema.json").read_text()))
    validator.check_schema(validator.schema)
    assert list(validator.iter_errors(yaml.safe_load((CONFIG / f"{example}.example.yaml").read_text()))) == []


@pytest.mark.parametrize("manifest", sorted(folder("backends").glob("*/backend.yaml")), ids=lambda p: p.parent.name)
def test_a_shipped_manifest_fits_its_schema(manifest: Path) -> None:
    schema = yaml.safe_load((CONFIG / "backend.schema.json").read_text())
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(yaml.safe_load(manifest.read_text()))) == []


def test_a_section_can_be_validated_on_its_own() -> None:
    marked = parse(b"a: {path: /x}", "f")
    assert validated(Workspace, marked, ("a",)) == Workspace(path="/x")
