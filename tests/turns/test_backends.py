"""What is installed: the programs are asked at once, and no more often than they change."""

from pathlib import Path

import pytest
from anyio import to_thread

from kai.catalog import manifests
from kai.settings.values import Settings
from kai.settings.where import find
from kai.turns.backends import Backends
from kai.turns.config import Config, Loaded

pytestmark = pytest.mark.anyio
# Each waits for the other: asked one after the other they would never tell.
_MEETS = "touch {here}/{own}; n=0; while [ ! -e {here}/{other} ] && [ $n -lt 400 ]; do sleep 0.02; n=$((n+1)); done"


def _backend(place: Path, name: str, script: str) -> None:
    program = place / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    (place / "backends" / name).mkdir(parents=True)
    text = f"title: {name}\nprotocol: acp\nlaunch: {{program: {program}}}\n"
    (place / "backends" / name / "backend.yaml").write_text(text)


def _backends(place: Path) -> Backends:
    loaded = Loaded(Settings(), manifests.load(place / "backends"), {})
    flags = [str(place / name) for name in ("c", "s", "r")]
    return Backends(Config(find(*flags), loaded))


async def test_the_programs_are_asked_at_once(tmp_path: Path) -> None:
    for own, other in (("a", "b"), ("b", "a")):
        met = f"[ -e {tmp_path}/{other} ] && echo 1.2.3"
        _backend(tmp_path, own, f"{_MEETS.format(here=tmp_path, own=own, other=other)}; {met}")
    found = await (await to_thread.run_sync(_backends, tmp_path)).every()
    assert {name: one.version for name, one in found.items()} == {"a": "1.2.3", "b": "1.2.3"}


async def test_a_check_runs_its_own_program_again_and_no_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        _backend(tmp_path, name, f"echo {name} >> {tmp_path}/asked; echo 1.2.3")
    backends = await to_thread.run_sync(_backends, tmp_path)
    await backends.every()
    backends.forget("a")
    await backends.every()
    backends.forget()
    await backends.every()
    assert sorted((tmp_path / "asked").read_text().split()) == ["a", "a", "b"]
