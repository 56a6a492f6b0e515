"""Prints what a probe from inside an OS user has found."""

from kai.client import View
from kai.commands.verb import Verb

_COLUMNS = {
    "what": lambda row: row["what"],
    "how": lambda row: row["how"],
    "meant": lambda row: "open" if row["may"] else "closed",
    "seen": lambda row: row["seen"],
    "": lambda row: "ok" if row["ok"] else "LACKS" if row["may"] else "LEAK",
    "path": lambda row: row["path"],
}


def tell(how: Verb, found: View) -> int:
    """The table of a probe, and its exit status: 1 on any leak, on what is lacking, and when there was no probe."""
    if how.as_json or found["problem"]:
        how.lines(found, [f"{found['name']}: {found['problem']}"])
    else:
        how.rows(found["rows"], _COLUMNS, nothing="Nothing was tried.")
        told = f"{found['name']} (OS user {found['os_user']}, launcher {found['launcher']})"
        how.lines(found, [f"{told}: {len(found['rows'])} tried, {found['leaks']} leaks, {found['lacks']} lacking."])
    return 1 if found["leaks"] or found["lacks"] or found["problem"] else 0
