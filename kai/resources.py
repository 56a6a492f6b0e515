"""Finds the folders that travel with the package, in a checkout and a wheel. No other module touches ``__file__``."""

from pathlib import Path
from typing import Literal

FolderName = Literal["backends", "config", "data", "systemd"]


def folder(name: FolderName) -> Path:
    """Absolute path of a shipped folder. Raises `FileNotFoundError` when the installation is incomplete."""
    package = Path(__file__).resolve().parent
    for candidate in (package / "_share" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the folder {name!r} is missing from this installation of kai; install it again")


def module_file(name: str) -> Path:
    """Absolute path of one of kai's own files, named from the package root (``launcher/shim.py``)."""
    return Path(__file__).resolve().parent / name
