"""A machine for `kai system`: a root folder, and programs of systemd that write down how they were called."""

import stat
from dataclasses import dataclass, field
from pathlib import Path

from kai.commands.system_install import Places
from kai.commands.system_steps import Steps

SYSTEMCTL = """\
case "$1" in
is-enabled) [ -e {root}/enabled-$2 ] && echo enabled ;;
is-active) [ -e {root}/active-$2 ] && echo active ;;
enable) touch {root}/enabled-$2 ;;
start | restart)
    if [ -e {root}/broken ] && [ $2 = kai.service ]; then echo "Job failed" >&2; exit 1; fi
    touch {root}/active-$2
    ;;
disable) shift 2; for unit; do rm -f {root}/enabled-$unit {root}/active-$unit; done ;;
show)
    case "$3" in
    LoadState) [ -e {root}/etc/systemd/system/$4 ] && echo loaded ;;
    StatusText) [ -e {root}/broken ] && echo "Failed: it is broken" || echo "0 turns run" ;;
    esac
    ;;
esac
"""


@dataclass
class Machine:
    """`bin` goes before the PATH; `calls` holds what was called and may change something."""

    root: Path
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bin.mkdir(parents=True)
        (self.root / "usr/local/bin").mkdir(parents=True)
        self.places.prefix.joinpath("bin").mkdir(parents=True)
        self.program("systemctl", SYSTEMCTL.format(root=self.root))
        self.program("systemd-sysusers", "")
        self.program("systemd-tmpfiles", "")

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def places(self) -> Places:
        return Places(self.root, self.root / "opt/kai")

    def program(self, name: str, body: str) -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.root}/calls\n{body}')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def calls(self) -> list[str]:
        """Since the last time, without questions."""
        log = self.root / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line for line in lines if not line.startswith(("systemctl is-", "systemctl show", "systemctl list"))]

    def steps(self, *, is_dry: bool = False) -> Steps:
        self.told.clear()
        return Steps(is_dry=is_dry, tell=self.told.append)
