"""The SQL of sqlite-vec: one table in memory for each index. The database of the house needs no extension."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from kai.store.binding import Connection, connect

_CHUNK = 64  # vectors are taken in such pieces: the usual 1,024 would hold 1.5 MB for one record


def opened(dimension: int) -> Connection:
    """An empty table. Raises `Error` or `ImportError` where the extension cannot be loaded."""
    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("sqlite_vec")
    db = connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        db.enable_load_extension(True)
        db.load_extension(str(Path(spec.submodule_search_locations[0]) / "vec0"))
        db.enable_load_extension(False)
        db.execute(
            "CREATE VIRTUAL TABLE near USING vec0 (seq INTEGER PRIMARY KEY, "
            f"vector float[{int(dimension)}] distance_metric=L2, chunk_size={_CHUNK})"
        )
    except BaseException:
        db.close()
        raise
    return db


def put(db: Connection, vectors: Iterable[tuple[int, bytes]]) -> None:
    """`vectors`: rows and float32 numbers of length 1. It has no REPLACE."""
    db.execute("BEGIN")
    for seq, vector in vectors:
        db.execute("DELETE FROM near WHERE seq = ?", (seq,))
        db.execute("INSERT INTO near (seq, vector) VALUES (?, ?)", (seq, vector))
    db.execute("COMMIT")


def drop(db: Connection, seq: int) -> None:
    db.execute("DELETE FROM near WHERE seq = ?", (seq,))


def near(db: Connection, vector: bytes, limit: int) -> list[tuple[int, float]]:
    """Rows and their L2 distance."""
    found = db.execute(
        "SELECT seq, distance FROM near WHERE vector MATCH ? AND k = ? ORDER BY distance",
        (vector, min(limit, 4096)),
    )
    return [(row[0], row[1]) for row in found]


def count(db: Connection) -> int:
    rows: int = db.execute("SELECT count(*) FROM near").fetchone()[0]
    return rows
