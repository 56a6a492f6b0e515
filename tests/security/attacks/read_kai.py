"""As A's agent: read kai's database, its attachments and backups, its configuration's secrets, the spawner's memory."""

import os
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[0].rpartition("/tests/")[0])
from tests.security.attacks.attempt import PLACES, attempt

state = Path(PLACES["state"])
attempt("read kai.db", (state / "kai.db").read_bytes)
attempt("open kai.db as a database", lambda: sqlite3.connect(f"file:{state}/kai.db?mode=ro", uri=True))
attempt("list the state folder", lambda: os.listdir(state))
attempt("list the attachments", lambda: os.listdir(state / "attachments"))
attempt("put a file into the state folder", lambda: (state / "mine").write_text("x"))
attempt("remove kai.db", (state / "kai.db").unlink)
for name in ("daemon", "spawner", "keeper"):
    pid = PLACES["pids"][name]
    attempt(f"read the {name}'s environment", Path(f"/proc/{pid}/environ").read_bytes)
    attempt(f"read the {name}'s memory", Path(f"/proc/{pid}/mem").open, "rb")
    attempt(f"take a descriptor of the {name}", os.listdir, f"/proc/{pid}/fd")
