"""The built wheel works from another folder, with the checkout out of sight."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    return next(folder.glob("kai-*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment: the wheel, and the third-party packages of this one but not its link to the checkout."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = next(folder.glob("lib/python3*/site-packages"))
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    # A path added here is searched, but the .pth files in it (the link to the checkout) are not read.
    (site / "third-party.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


def run(python: Path, *args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), *args], cwd=cwd, env={"PATH": "/usr/bin:/bin", **env}, text=True, capture_output=True, timeout=60
    )


def test_the_wheel_holds_what_is_no_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    for wanted in ("backends/offline/backend.yaml", "config/kai.example.yaml", "data/migrations/0001_spine.sql"):
        assert f"kai/_share/{wanted}" in names
    assert not [name for name in names if name.startswith("tests/")]


def test_the_wheel_answers_from_another_folder(python: Path, tmp_path: Path) -> None:
    where = run(python, "-c", "import kai; print(kai.__file__)", cwd=tmp_path)
    assert str(python.parent.parent) in where.stdout
    folders = {"HOME": str(tmp_path), "KAI_CONFIG": str(tmp_path / "c"), "KAI_STATE": str(tmp_path / "s")}
    folders["KAI_RUNTIME"] = str(tmp_path / "r")
    (tmp_path / "c").mkdir()
    done = run(python, "-m", "kai", "chat", "--private", "--backend", "offline", "echo hello", cwd=tmp_path, **folders)
    assert done.returncode == 0, done.stderr
    assert "hello" in done.stdout
