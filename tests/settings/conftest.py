"""A config folder to fill."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kai.settings.load import Inspection, inspect
from kai.settings.where import Folders

Configure = Callable[..., Inspection]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    config = tmp_path / "config"
    config.mkdir()
    return Folders(config, tmp_path / "state", tmp_path / "run")


@pytest.fixture
def configure(folders: Folders) -> Configure:
    """Write files (``kai="…"`` for kai.yaml) and inspect the folder."""

    def write(**files: str) -> Inspection:
        for name, text in files.items():
            (folders.config / f"{name}.yaml").write_text(text)
        return inspect(folders)

    return write
