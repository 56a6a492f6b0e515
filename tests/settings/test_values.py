"""The settings themselves."""

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from kai.model.backends import Limits
from kai.settings.values import LimitSettings, PersonEntry, Settings, Workspace


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().backend = "claude"  # type: ignore[misc]


def test_a_limit_of_zero_takes_the_backends_own() -> None:
    base = Limits(start_s=11, turn_s=22)
    assert LimitSettings().over(base) == base
    assert LimitSettings(turn_s=5).over(base) == Limits(start_s=11, turn_s=5)


def test_persons_and_workspaces_are_found_by_name_and_workspaces_by_path() -> None:
    settings = Settings(persons=(PersonEntry(name="ann"),), workspaces=(Workspace(path="/srv/g", name="g"),))
    assert settings.person("ann") is settings.persons[0]
    assert settings.person("Ann") is None
    assert settings.workspace("g") is settings.workspace("/srv/g") is settings.workspaces[0]
    assert settings.workspace("/srv") is None


@pytest.mark.parametrize("module", ["kai.settings.values", "kai.settings.where", "kai.settings.problems"])
def test_a_client_needs_neither_pydantic_nor_yaml(module: str) -> None:
    code = f"import sys, {module}; assert not {{'pydantic', 'yaml'}} & set(sys.modules), sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
