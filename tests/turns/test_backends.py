"""What is installed: the programs are asked at once, and no more often than they change."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from anyio import to_thread

from kai.catalog import manifests
from kai.model.backends import LaunchPlan, Login, Manifest, ProtocolName
from kai.model.errors import LaunchError
from kai.processes.errands import Errands
from kai.settings.values import Settings
from kai.settings.where import find
from kai.turns.backends import Backends, os_user
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


def _backends(place: Path, errands: Errands | None = None) -> Backends:
    loaded = Loaded(Settings(), manifests.load(place / "backends"), {})
    flags = [str(place / name) for name in ("c", "s", "r")]
    return Backends(Config(find(*flags), loaded), errands)


async def test_the_programs_are_asked_at_once(tmp_path: Path) -> None:
    for own, other in (("a", "b"), ("b", "a")):
        met = f"[ -e {tmp_path}/{other} ] && echo 1.2.3"
        _backend(tmp_path, own, f"{_MEETS.format(here=tmp_path, own=own, other=other)}; {met}")
    found = await (await to_thread.run_sync(_backends, tmp_path)).every()
    assert {name: one.version for name, one in found.items()} == {"a": "1.2.3", "b": "1.2.3"}


class _Looks(Errands):
    """The errand that looks at the sizes of files: one is there, or nobody can be started as their owner."""

    def __init__(self, size: int | None) -> None:
        self.size = size
        self.asked: list[Path] = []

    async def sizes(self, os_user: str, paths: Sequence[Path]) -> list[int | None]:
        self.asked += paths
        if self.size is None:
            raise LaunchError("errand", "nobody can be started")
        return [self.size for _ in paths]


@pytest.mark.parametrize(("size", "has"), [(3, False), (300, True), (None, None)])
async def test_the_login_of_another_os_user_is_looked_for_as_them_when_a_key_could_override_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int | None, has: bool | None
) -> None:
    _backend(tmp_path, "a", "echo 1.2.3")
    errands = _Looks(size)
    backends = await to_thread.run_sync(_backends, tmp_path, errands)
    launch = LaunchPlan("a", (), strip_env=("TOY_KEY",))
    manifest = Manifest("a", "A", ProtocolName.ACP, launch, "/a", login=Login(files=(".a/auth.json",)))
    assert await backends.has_login(manifest, "nobody") is None
    assert not errands.asked, "without a key nobody needs to look"
    monkeypatch.setenv("TOY_KEY", "secret")
    assert await backends.has_login(manifest, "nobody") is has
    assert [path.name for path in errands.asked] == ["auth.json"]
    assert await backends.has_login(manifest, os_user()) is None, "the daemon looks at its own by itself"


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
