"""``make booted``: the set on a booted systemd, on this machine's own system and on a clean Debian 13."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.booted.stage import ROOT, cache, stage

PYTHONS = {"12": "3.11", "13": "3.13"}
NAMES = {"13": "trixie"}
PACKAGES = "systemd,systemd-sysv,dbus,python3,python3-venv,procps,iproute2,passwd,util-linux"


def missing() -> str:
    """Why no machine can be booted here; empty when one can."""
    if os.geteuid() != 0:
        return "only root can boot a machine"
    for program, package in (("systemd-nspawn", "systemd-container"), ("mount", "mount")):
        if shutil.which(program) is None:
            return f"{program} is not installed (apt-get install {package})"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        return "nothing can be mounted here"
    if subprocess.run(["/usr/bin/python3", "-c", "import ensurepip"], capture_output=True).returncode != 0:
        return "/usr/bin/python3 with venv is not installed (apt-get install python3-venv)"
    return ""


def rootfs(debian: str) -> Path:
    """Of this machine, or of a clean Debian that is made once."""
    if debian == "12":
        return Path("/")
    if shutil.which("mmdebstrap") is None:
        sys.exit("booted: a clean Debian needs mmdebstrap (apt-get install mmdebstrap); --debian 12 does without")
    made = cache() / f"debian-{debian}"
    if not made.is_dir():
        draft = made.with_suffix(".new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.parent.mkdir(parents=True, exist_ok=True)
        sources = cache() / f"debian-{debian}.sources"
        sources.write_text(_sources(NAMES[debian]))
        argv = [
            "mmdebstrap",
            "-q",
            "--variant=minbase",
            f"--include={PACKAGES}",
            NAMES[debian],
            str(draft),
            str(sources),
        ]
        subprocess.run(argv, check=True)
        draft.rename(made)
    return made


def _sources(name: str) -> str:
    """The machine's own, for another release."""
    found = sorted(Path("/etc/apt/sources.list.d").glob("debian*.sources")) or [Path("/etc/apt/sources.list")]
    return "\n".join(path.read_text().replace("bookworm", name) for path in found)


def boot(debian: str) -> int:
    """Boot, play, print; the exit status."""
    with tempfile.TemporaryDirectory(prefix="kai-stage-") as folder:
        staged = stage(Path(folder), PYTHONS[debian])
        inside = ["sh", "-c", "cd /shared && exec /usr/bin/python3 -B -m tests.booted.inside"]
        return subprocess.run([ROOT / "scripts/booted", rootfs(debian), staged, *inside]).returncode


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--debian", choices=PYTHONS, action="append", help="only this one")
    chosen = parser.parse_args().debian or list(PYTHONS)
    if reason := missing():
        print(f"booted: not here: {reason}")
        return 2
    status = 0
    for debian in chosen:
        print(f"\n| Debian {debian}: what | expected | seen | took |\n|---|---|---|---|", flush=True)
        status = boot(debian) or status
    return status


if __name__ == "__main__":
    sys.exit(main())
