"""What goes into the booted machine: wheels of kai and of all that it needs, for it has no network."""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from kai import __version__

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("kai", "backends", "config", "data", "systemd", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md")
GOOD, BAD = "97.0", "98.0"  # versions: one with another migration, and one whose second migration fails
GOOD_SQL = "CREATE TABLE booted_more (number INTEGER PRIMARY KEY) STRICT;\n"
BAD_SQL = "INSERT INTO booted_nowhere VALUES (1);\n"


def cache() -> Path:
    """Outside the checkout, kept from run to run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kai-booted"


def stage(folder: Path, python: str) -> Path:
    """Fill `folder` for a machine with this version of Python (``3.11``); gives it."""
    needed = cache() / f"needed-{python}-{_digest(ROOT / 'pyproject.toml')}"
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    kai = wheel(ROOT, wheels)
    if not needed.is_dir():
        draft = needed.with_suffix(".new")
        shutil.rmtree(draft, ignore_errors=True)
        which = ["--only-binary", ":all:", "--python-version", python]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", *which]
        _run([*pip, "-d", str(draft), str(kai)])
        for own in draft.glob("kai-*.whl"):
            own.unlink()
        draft.rename(needed)
    for each in needed.iterdir():
        shutil.copy(each, wheels)
    number = len(list((ROOT / "data/migrations").glob("*.sql"))) + 1
    later(wheels, folder / "tree", GOOD, {f"{number:04}_booted.sql": GOOD_SQL})
    later(wheels, folder / "tree", BAD, {f"{number:04}_booted.sql": GOOD_SQL, f"{number + 1:04}_bad.sql": BAD_SQL})
    for name in ("booted", "fake_agent"):
        shutil.copytree(ROOT / "tests" / name, folder / "tests" / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests/__init__.py").touch()
    folder.chmod(0o755)
    return folder


def later(wheels: Path, tree: Path, version: str, migrations: dict[str, str]) -> None:
    """A wheel of kai as it might be one day."""
    tree.mkdir()
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "_share"))
        else:
            shutil.copy(ROOT / name, tree)
    own = tree / "kai/__init__.py"
    own.write_text(own.read_text().replace(f'"{__version__}"', f'"{version}"'))
    for name, sql in migrations.items():
        (tree / "data/migrations" / name).write_text(sql)
    assert version in wheel(tree, wheels).name
    shutil.rmtree(tree)


def wheel(tree: Path, wheels: Path) -> Path:
    """Build the wheel of a checkout."""
    before = set(wheels.iterdir())
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(wheels), str(tree)])
    return next(iter(set(wheels.iterdir()) - before))


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:12]


def _run(argv: list[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
