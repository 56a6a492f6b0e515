"""Steps of an installation: each is done only where it is needed, and says what became of it."""

import grp
import os
import pwd
import stat
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kai.model.errors import DeniedError, KaiError


@dataclass
class StepFailedError(KaiError):
    """A program that the installation needs failed. `said` is the last it had to say."""

    argv: tuple[str, ...]
    said: str

    @property
    def sentence(self) -> str:
        return f"'{' '.join(self.argv)}' failed: {self.said or 'without a word'}"

    @property
    def hint(self) -> str:
        return "What was done before stays; the same command goes on from there."


@dataclass(frozen=True, slots=True)
class Step:
    """`did`: made, changed, kept, removed, run, and what is only told ("is")."""

    did: str
    what: str


@dataclass
class Steps:
    """Does what is needed, or with `is_dry` only says so. `tell` gets each line as it happens."""

    is_dry: bool = False
    tell: Callable[[str], object] = print
    done: list[Step] = field(default_factory=list)

    @property
    def has_changed(self) -> bool:
        return any(step.did not in ("kept", "is") for step in self.done)

    def must_be_root(self) -> None:
        """Raises `DeniedError`. A dry run needs no rights."""
        if os.geteuid() != 0 and not self.is_dry:
            raise DeniedError("only root installs a service", "Run it with sudo, or look with --dry-run first.")

    def note(self, did: str, what: str) -> None:
        """Record a step that was done, or in a dry run would be."""
        self.done.append(Step(did, what))
        self.tell(f"{'would be ' if self.is_dry and did not in ('kept', 'is') else ''}{did:<8}{what}")

    def file(self, path: Path, text: str, mode: int = 0o644, group: str = "") -> bool:
        """A file of ours with this text and mode, whole or not there; whether something had to be done."""
        try:
            found = path.lstat()
            is_there = stat.S_ISREG(found.st_mode)
        except FileNotFoundError:
            is_there = False
        same = (
            is_there
            and path.read_text() == text
            and stat.S_IMODE(found.st_mode) == mode
            and found.st_uid == os.geteuid()
        )
        self.note("kept" if same else "changed" if is_there else "made", str(path))
        if not same and not self.is_dry:
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            draft = path.with_name(f".{path.name}.new")
            draft.unlink(missing_ok=True)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
            with os.fdopen(descriptor, "w") as file:
                os.fchmod(descriptor, mode)
                if group:
                    os.fchown(descriptor, -1, grp.getgrnam(group).gr_gid)
                file.write(text)
                file.flush()
                os.fsync(descriptor)
            draft.rename(path)
        return not same

    def link(self, path: Path, target: Path) -> None:
        """A symbolic link; whatever else stands there is left alone, and told."""
        if path.is_symlink() and path.readlink() == target:
            self.note("kept", f"{path} -> {target}")
        elif os.path.lexists(path):
            self.note("is", f"{path} is something else and stays; use {target}")
        else:
            self.note("made", f"{path} -> {target}")
            if not self.is_dry:
                path.symlink_to(target)

    def gone(self, path: Path) -> None:
        """No such file, nor its folder if that is empty and one of a unit."""
        if not os.path.lexists(path):
            return
        self.note("removed", str(path))
        if not self.is_dry:
            path.unlink()
            if path.parent.name.endswith(".d") and path.parent.name.startswith("kai"):
                with suppress(OSError):
                    path.parent.rmdir()

    def run(self, *argv: str | Path, user: str | None = None) -> str:
        """Run a program and give its output. Raises `StepFailedError`."""
        words = tuple(map(str, argv))
        self.note("run", " ".join(words))
        return "" if self.is_dry else self.output(words, user=user)

    def ask(self, *argv: str) -> str:
        """The first words of a program that may as well fail; not a step."""
        with suppress(OSError):
            return subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/").stdout.strip()
        return ""

    def output(self, argv: Sequence[str], *, user: str | None = None) -> str:
        """What a program says; not a step. Raises `StepFailedError`."""
        as_user = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}
        try:
            done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/", **as_user)  # type: ignore[call-overload]
        except OSError as error:
            raise StepFailedError(tuple(argv), error.strerror or str(error)) from error
        if done.returncode != 0:
            raise StepFailedError(tuple(argv), (done.stderr or done.stdout).strip()[-1000:])
        return str(done.stdout)
