"""Memory kept in order: what is over leaves, what is kept long enough is erased, what disagrees is told."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from kai.store import ledger, records, shelves
from kai.store.binding import Connection, Error


@dataclass(frozen=True, slots=True)
class Collected:
    """What one collection came to."""

    expired: int
    erased: int
    audit: int


def collect(db: Connection, now: datetime, forgotten_days: int, audit_days: int) -> Collected:
    """One small transaction's worth; 0 everywhere when nothing is left to do."""
    expired, erased = records.expire(db, now, forgotten_days)
    return Collected(expired, erased, ledger.drop_old(db, now - timedelta(days=audit_days)))


def findings(db: Connection) -> list[dict[str, str]]:
    """What is wrong with the records and their indexes; empty when nothing is. Needs a writer: a check writes."""
    found = []
    if lost := shelves.astray(db):
        found.append(_finding("memory-index", f"records and their indexes disagree in {lost} places", _REINDEX))
    for number, shelf in db.execute("SELECT seq, shelf FROM mem_shelf").fetchall():
        try:
            table = f"mem_index_{number}"
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
        except Error as error:
            found.append(_finding("memory-index", f"the index of {shelf} is damaged ({error})", _REINDEX))
    untagged = db.execute("SELECT count(*) FROM mem_record WHERE audience IS NULL AND status = 'active'").fetchone()[0]
    if untagged:
        problem = f"{untagged} records have no audience: nobody is shown them"
        found.append(_finding("memory-untagged", problem, "Correct or forget them: 'kai memory list'."))
    risen = db.execute(
        "SELECT count(*) FROM mem_record r JOIN mem_revision v USING (record, revision) JOIN mem_tombstone t "
        "ON t.owner = r.owner AND t.digest = v.digest AND t.lifted_at IS NULL WHERE r.status = 'active'"
    ).fetchone()[0]
    if risen:
        problem = f"{risen} records in use say what was forgotten"
        found.append(_finding("memory-risen", problem, "Forget them: this is a fault of kai, report it."))
    return found


_REINDEX = "'kai memory doctor --reindex' makes every index anew."


def _finding(name: str, problem: str, mend: str) -> dict[str, str]:
    return {"name": name, "problem": problem, "mend": mend}
