"""A disk of 3 MB, and a way to fill it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount the small disk that this test fills")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m,mode=0700", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"the small disk that this test fills cannot be mounted: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:  # whatever the test has mounted over it goes along
        while os.path.ismount(folder):
            subprocess.run(["umount", "-l", folder], check=True)


def fill_up(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                pass
