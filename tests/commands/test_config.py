"""``kai config``."""

import json
from pathlib import Path

from tests.commands.conftest import Kai


def test_every_setting_is_shown_and_with_why_where_it_comes_from(kai: Kai, folders: list[str]) -> None:
    file = Path(folders[1], "kai.yaml")
    file.write_text("permissions: bypass\n")
    plain, why = kai("config", "show")[1], kai("config", "show", "--why")[1]
    assert plain.startswith("SETTING")
    line = next(line for line in why.splitlines() if line.startswith("permissions"))
    assert line.split() == ["permissions", "bypass", f"{file}:1:14"]
    assert next(line for line in why.splitlines() if line.startswith("backend")).split() == [
        "backend",
        "auto",
        "default",
    ]
    found = {one["setting"]: one for one in json.loads(kai("config", "show", "--json")[1])}
    assert found["folder.config"] == {"setting": "folder.config", "value": folders[1], "source": "flag"}


def test_a_bad_configuration_is_an_error_with_its_position(kai: Kai, folders: list[str]) -> None:
    Path(folders[1], "kai.yaml").write_text("agnet: x\n")
    status, out, err = kai("config", "show")
    assert (status, out) == (1, "")
    assert "kai.yaml:1:1" in err
