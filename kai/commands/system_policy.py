"""What the spawner of this machine may start: the policy that `kai system install` writes and brings up to date."""

import json
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kai.catalog.discover import native_of
from kai.launcher.trust import weak_spot
from kai.model.backends import Manifest

SERVICE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"  # as systemd gives it to a service
MIN_UID = 1000


def policy(found: str, manifests: Iterable[Manifest], daemon_user: str, python: str = sys.executable) -> str:
    """The text of the policy: what `found` (the one that is there, or empty) says of users, limits and further
    programs, with the agent CLIs that are installed now, kai's own Python, and the variables of every backend.

    Raises `ValueError` for one that cannot be read: it is the operator's to mend.
    """
    known: dict[str, Any] = json.loads(found) if found else {}
    backends = [*manifests]
    programs = {python, *filter(None, map(_program, backends)), *known.get("programs", ())}
    variables = {name for one in backends for name in _variables(one)} | set(known.get("env", ()))
    fresh = {
        "daemon_user": daemon_user,
        "users": known.get("users", []),
        "min_uid": known.get("min_uid", MIN_UID),
        "programs": sorted(filter(_is_sound, programs)),
        "env": sorted(variables),
        "limits": known.get("limits", {}),
    }
    return json.dumps({**known, **fresh}, indent=2) + "\n"


def _program(manifest: Manifest) -> str:
    """Where the service finds it; empty when it does not, or when it is one of kai's own."""
    wanted = manifest.launch.program
    found = None if "{" in wanted else shutil.which(wanted, path=SERVICE_PATH)
    return native_of(found, manifest) if found else ""


def _is_sound(program: str) -> bool:
    """Only root can exchange it: the spawner refuses any other."""
    try:
        return not weak_spot(program) and os.access(program, os.X_OK) and Path(program).is_file()
    except OSError:
        return False


def _variables(manifest: Manifest) -> Iterable[str]:
    launch = manifest.launch
    yield from launch.pass_env
    for name, _ in (*launch.set_env, *launch.ask_env, *launch.bypass_env):
        yield name
