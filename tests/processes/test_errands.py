"""Errands: the helper started through a launcher, its bytes in and out, and its end in every case."""

import os
from pathlib import Path

import pytest

from kai.model.context import FileState
from kai.model.errors import ErrandError
from kai.processes.direct import DirectLauncher
from kai.processes.errands import Errands

pytestmark = pytest.mark.anyio
ME = ""


@pytest.fixture
def errands() -> Errands:
    return Errands(DirectLauncher())


async def test_a_large_file_goes_in_and_comes_back_whole(errands: Errands, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(os.urandom(700_000))
    there = tmp_path / "home" / "in" / "a.bin"
    (tmp_path / "home").mkdir()
    assert await errands.bring(ME, there, root=tmp_path / "home", source=source)
    assert not await errands.bring(ME, there, root=tmp_path / "home", source=source)
    assert await errands.fetch(ME, there, root=tmp_path / "home", max_bytes=10**6) == source.read_bytes()


async def test_a_refusal_names_user_path_and_reason(errands: Errands, tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("/etc/passwd")
    with pytest.raises(ErrandError) as caught:
        await errands.fetch(ME, tmp_path / "x", root=tmp_path, max_bytes=100)
    assert caught.value.state == "unsafe"
    assert "a part of its path is a link" in caught.value.sentence
    assert "plain file" in caught.value.hint


async def test_a_persons_file_has_its_state_whatever_its_owner_did(errands: Errands, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "c").write_bytes(b"\xff")
    (tmp_path / "d").write_text("\n")
    uid = os.geteuid()
    states = {
        n: (await errands.read(tmp_path / n, root=tmp_path, owner_uid=uid)).state for n in ("a", "b", "c", "d", "e")
    }
    assert states == {
        "a": FileState.PRESENT, "b": FileState.UNSAFE, "c": FileState.MALFORMED, "d": FileState.EMPTY,
        "e": FileState.MISSING,
    }  # fmt: skip
    assert (await errands.read(tmp_path / "a", root=tmp_path, owner_uid=4_000_000)).state is FileState.UNREADABLE


async def test_a_program_runs_as_the_user_and_its_output_is_told(errands: Errands) -> None:
    assert (
        await errands.output(ME, ["/bin/sh", "-c", "echo 1.2.3; echo $PLACE"], {"PLACE": "here"}, 10) == "1.2.3\nhere\n"
    )
    with pytest.raises(TimeoutError):
        await errands.output(ME, ["/bin/sleep", "1000"], {}, 0.2)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("import sys; sys.exit('no way')", "no way"),
        ("print('nonsense')", "broke off"),
        ("import time; time.sleep(1000)", ""),
    ],
)
async def test_an_errand_that_breaks_or_hangs_is_an_error_and_leaves_nothing(
    tmp_path: Path, script: str, why: str
) -> None:
    (tmp_path / "errand.py").write_text(script)
    errands = Errands(DirectLauncher(), program=str(tmp_path / "errand.py"))
    with pytest.raises(ErrandError) as caught:
        await errands._do(ME, {"do": "look", "paths": []}, tmp_path, limit_s=1.0)
    assert why in caught.value.sentence


async def test_seeds_sizes_and_probes_go_the_same_way(errands: Errands, tmp_path: Path) -> None:
    assert await errands.seed(ME, [(tmp_path / "a", tmp_path, "text")]) == [True]
    assert await errands.sizes(ME, [tmp_path / "a", tmp_path / "b"]) == [4, None]
    assert await errands.probe(ME, [("list", str(tmp_path)), ("list", str(tmp_path / "b"))]) == ["done", "absent"]
    await errands.tidy(ME, tmp_path / "none", root=tmp_path, days=1)
