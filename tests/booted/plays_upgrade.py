"""Another version comes, and one that does not come up; then kai goes."""

import os
import sqlite3  # noqa: TID251 - the machine's own
from contextlib import closing
from pathlib import Path

from tests.booted.inside import row
from tests.booted.machine import KAI, agents, api, kai, run, until

STATE = Path("/var/lib/kai")


def version() -> str:
    return run("/opt/kai/bin/kai", "version").stdout.split()[-1]


def tables() -> set[str]:
    with closing(sqlite3.connect(f"file:{STATE}/kai.db?mode=ro", uri=True)) as db:
        return {row[0] for row in db.execute("SELECT name FROM sqlite_schema")}


def messages() -> int:
    return int(api("GET", "/v1/status")["counts"]["messages"])


def upgrade(wanted: str, *more: str) -> tuple[int, str]:
    done = run(KAI, "system", "upgrade", f"kai=={wanted}", "--find-links", "/shared/wheels", *more)
    until(lambda: api("GET", "/v1/status"))
    return done.returncode, done.stdout + done.stderr


@row("kai system upgrade, with a migration", "the new version answers with all messages; the former database is kept")
def upgraded() -> tuple[bool, str]:
    before = messages()
    status, said = upgrade("97.0")
    said = said[-900:]
    copies = [path.name for path in (STATE / "backups").iterdir() if path.name.startswith("kai-before-97.0")]
    answered = kai("chat", "and now?", who="alice").returncode
    found = (status, version(), messages() - before, answered, "booted_more" in tables(), len(copies))
    is_well = found == (0, "97.0", 2, 0, True, 1)
    return is_well, f"exit {status}, kai {version()}, {before} messages then {messages()}, copies {copies} " + (
        "" if is_well else said
    )


@row("the same upgrade again, and dry", "it says that it is there already; nothing stops")
def upgraded_again() -> tuple[bool, str]:
    pid = api("GET", "/v1/status")["pid"]
    status, said = upgrade("97.0")
    dry, would = upgrade("98.0", "--dry-run")
    is_well = (status, dry) == (0, 0) and api("GET", "/v1/status")["pid"] == pid and "asked for" in said
    return is_well and "would be" in would and version() == "97.0", said.strip().splitlines()[-1]


@row("kai system upgrade, with a migration that fails", "exit 1 with the reason; the former version and database serve")
def rolled_back() -> tuple[bool, str]:
    before = messages()
    status, said = upgrade("98.0")
    answered = kai("chat", "and now?", who="alice").returncode
    left = [path.name for path in Path("/opt").glob("kai.*")]
    found = (status, version(), messages() - before, answered, left)
    reason = said[said.find("kai: ") :]
    is_well = found == (1, "97.0", 2, 0, []) and "booted_nowhere" in reason
    return is_well, f"{found}; {reason}"


@row("kai system uninstall, twice", "no unit, no process, no link; configuration and messages stay")
def uninstalled() -> tuple[bool, str]:
    once, twice = run(KAI, "system", "uninstall"), run(KAI, "system", "uninstall")
    units = run("systemctl", "list-unit-files", "--no-legend", "kai*").stdout.strip()
    left = run("pgrep", "-u", "kai").stdout.split()
    there = [path for path in ("/etc/kai/kai.yaml", "/var/lib/kai/kai.db", "/home/alice") if os.path.exists(path)]  # noqa: PTH110
    is_well = (once.returncode, twice.returncode, units, left, len(there)) == (0, 0, "", [], 3) and not agents()
    is_well = is_well and not os.path.lexists("/usr/local/bin/kai") and "Nothing had to be done" in twice.stdout
    return is_well, f"units: {units or 'none'}; processes: {left or 'none'}; stay: {there}"


@row("kai system install after that", "all is back")
def back() -> tuple[bool, str]:
    done = run(KAI, "system", "install")
    answered = kai("chat", "here again?", who="alice")
    return (done.returncode, answered.returncode) == (0, 0), answered.stdout.strip()[-80:] + answered.stderr
