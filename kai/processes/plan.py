"""From a manifest and what was chosen to the exact program, arguments, environment and folder of a run."""

import os
import pwd
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from kai.catalog.discover import native_of
from kai.model.backends import Manifest
from kai.model.errors import BadInputError, FailureKind, LaunchError
from kai.model.ids import RunId
from kai.processes.environment import LOOKS, RUN_FILE, Owner, environment, search_path
from kai.processes.launcher import LaunchSpec

ARGV_BYTES = 64 * 1024  # the system takes 128 KiB for one argument; what is longer belongs on stdin, unseen by others
_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")
ROOT_BYPASS_NEEDS_SANDBOX = "root_bypass_needs_sandbox"


@dataclass(frozen=True, slots=True)
class LaunchPlanned:
    """What to start, and notes for the person about what was decided for them."""

    spec: LaunchSpec
    notes: tuple[str, ...] = ()


def plan(  # noqa: PLR0913 - every choice that makes a run, by name
    manifest: Manifest,
    *,
    run: RunId,
    model: str,
    effort: str,
    permissions: str,
    resume: str,
    temporary: bool,
    workspace: Path,
    os_user: str,
    home: Path,
    socket_path: Path,
    token_path: Path | None = None,
    mcp: Mapping[str, str] | None = None,
    looks: Sequence[str] = (),
    inherited: Mapping[str, str] | None = None,
    has_login: bool | None = None,
) -> LaunchPlanned:
    """Plan one run. `permissions` is "ask" or "bypass"; empty `model`, `effort`, `resume` leave their arguments out.

    `mcp` fills the group of that name, which is left out without it; `looks` names tools of kai that only look, for
    gates that let their commands pass.
    `inherited` is the daemon's environment unless given, `has_login` as for `environment`.
    Looks at files: call it in a thread. Raises `LaunchError` (kind MISSING with how to install it, UNSUPPORTED,
    LAUNCH) and `BadInputError` for a value that is no such value.
    """
    inherited = os.environ if inherited is None else inherited
    if temporary:
        refuse_lasting(manifest)
    owner = Owner(os_user, home, search_path(home, inherited))
    program = _program(manifest, owner, inherited)
    argv = (program, *_arguments(manifest, model, effort, permissions, resume, temporary, mcp or {}))
    size = sum(len(part.encode(errors="surrogateescape")) + 1 for part in argv)
    if size > ARGV_BYTES:
        raise LaunchError(manifest.title, f"its arguments have {size:,} bytes where {ARGV_BYTES:,} are allowed")
    env, notes = environment(
        manifest, run=run, permissions=permissions, owner=owner, socket_path=socket_path, inherited=inherited,
        has_login=has_login,
    )  # fmt: skip
    # Last, so that nothing there stands in for what is the person's: `kai tool` is all that is wanted of it.
    env["PATH"] += f":{Path(sys.executable).parent}"
    env |= {} if token_path is None else {RUN_FILE: str(token_path)}
    env |= {LOOKS: ",".join(looks)} if looks else {}
    if permissions == "bypass" and ROOT_BYPASS_NEEDS_SANDBOX in manifest.quirks and _is_root(os_user):
        env["IS_SANDBOX"] = "1"
        notes += (
            f"{manifest.title} runs as root and asks nobody; it was told that this is a sandbox, or it would refuse.",
        )
    return LaunchPlanned(LaunchSpec(run, argv, env, str(workspace), user=os_user), notes)


def refuse_lasting(manifest: Manifest) -> None:
    """Raises `LaunchError` for a backend that would keep what is temporary, before anything is started."""
    if not manifest.can.temporary:
        raise LaunchError(
            manifest.title,
            "temporary_mode_unsupported: it cannot switch off its own memory and transcript",
            FailureKind.UNSUPPORTED,
            "Choose another backend with /backend, or leave temporary mode with '/temporary off'.",
        )


def _arguments(
    manifest: Manifest,
    model: str,
    effort: str,
    permissions: str,
    resume: str,
    temporary: bool,
    mcp: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, ...]:
    launch = manifest.launch
    chosen = {"{model}": model, "{effort}": effort, "{session}": resume}
    for placeholder, value in chosen.items():
        if value.startswith("-") or not value.isprintable():  # it would be read as another argument
            raise BadInputError(placeholder.strip("{}"), f"{value!r} is none")
    parts = (
        *launch.argv,
        *(launch.resume if resume else ()),
        *(launch.model if model else ()),
        *(launch.effort if effort else ()),
        *(launch.bypass if permissions == "bypass" else launch.ask),
        *(launch.temporary if temporary else ()),
        *(launch.mcp if mcp else ()),
    )
    return tuple(_filled(part, {**chosen, **mcp, **_places(manifest)}) for part in parts)


def _program(manifest: Manifest, owner: Owner, inherited: Mapping[str, str]) -> str:
    """Absolute path of the program, found as the person would find it."""
    launch = manifest.launch
    named = inherited.get(launch.program_env, "") if launch.program_env else ""
    wanted = _filled(named or launch.program, _places(manifest))
    found = shutil.which(wanted, path=owner.path)
    if found is None or not found.startswith("/"):
        source = f"{launch.program_env} names {wanted}, which is no program" if named else f"{wanted} is not installed"
        remedy = f"Install it with: {manifest.install}" if manifest.install and not named else ""
        where, looked = ("", "") if "/" in wanted else (f" for {owner.os_user}", f"looked in {owner.path}")
        raise LaunchError(manifest.title, source + where, FailureKind.MISSING, remedy, looked)
    found = native_of(found, manifest)
    interpreter = _env_interpreter(found)
    if interpreter and shutil.which(interpreter, path=owner.path) is None:
        reason = f"{found} needs {interpreter}, which is not installed for {owner.os_user}"
        remedy = f"Install {interpreter}."
        raise LaunchError(manifest.title, reason, FailureKind.MISSING, remedy, f"looked in {owner.path}")
    return found


def _env_interpreter(program: str) -> str:
    """What a script asks ``/usr/bin/env`` for; empty for any other program."""
    try:
        with Path(program).open("rb") as file:
            line = os.fsdecode(file.readline(256))
    except OSError:
        return ""
    words = line.removeprefix("#!").split()
    if not line.startswith("#!") or not words or words[0] not in ("/usr/bin/env", "/bin/env"):
        return ""
    return next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")


def _places(manifest: Manifest) -> dict[str, str]:
    return {"{backend_dir}": manifest.folder, "{python}": sys.executable}


def _filled(part: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values.get(found[0], found[0]), part)


def _is_root(os_user: str) -> bool:
    try:
        return pwd.getpwnam(os_user).pw_uid == 0
    except KeyError:
        return False
