"""What people may see of a block: shown, explained, compared, proven. Pure: blocks in, documents and lines out.

The documents are JSON-ready and travel over the API; the lines are made of them where they are printed.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff
from hashlib import sha256
from typing import Any

from kai.model.context import MARKER, ContextBlock, Disposition
from kai.model.ids import DispatchId, TurnId
from kai.text.safe import safe

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the same live session was sent before."""

    dispatch: DispatchId
    turn: TurnId
    sent_at: datetime
    sections: tuple[str, ...]


def show(block: ContextBlock, *, why: bool = False, earlier: Sequence[Earlier] = ()) -> Document:
    """The exact block; with `why` the disposition of everything that was considered."""
    document: Document = {
        "text": block.text,
        "bare": block.bare,
        "tokens": block.tokens,
        "bytes": len(block.text.encode()),
        "sections": [
            {
                "name": section.name,
                "bytes": len(section.text.encode()),
                "required": section.required,
                "stable": section.stable,
                "sha256": section.sha256,
            }
            for section in block.sections
        ],
        "earlier": [
            {
                "dispatch": sent.dispatch,
                "turn": sent.turn,
                "sent_at": sent.sent_at.isoformat(),
                "sections": list(sent.sections),
            }
            for sent in earlier
        ],
    }
    if why:
        document["dispositions"] = [_row(disposition) for disposition in block.dispositions]
    return document


def show_lines(document: Document) -> list[str]:
    """A `show` document for a terminal. Only the text itself is shown verbatim, made harmless for the screen."""
    lines = safe(document["text"]).split("\n")
    lines += ["", f"-- {document['bytes']:,} bytes, about {document['tokens']:,} tokens"]
    if document["bare"]:
        lines.append("-- a native command: it went bare, with no block")
    for sent in document["earlier"]:
        names = ", ".join(sent["sections"]) or "the words alone"
        lines += [f"-- this session has from turn {sent['turn']}, {_moment(sent['sent_at'])}:", f"   {names}"]
    rows = document.get("dispositions")
    if rows:
        lines += ["", *_table(rows)]
    return lines


def _moment(sent_at: str) -> str:
    return f"{datetime.fromisoformat(sent_at).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def diff(a: ContextBlock, b: ContextBlock) -> Document:
    """The sections of `b` beside those of `a`, in reading order, and what differs inside."""
    old = {section.name: section.text for section in a.sections}
    new = {section.name: section.text for section in b.sections}
    names = [*new, *(name for name in old if name not in new)]
    changes = [_change(name, old.get(name), new.get(name)) for name in names]
    return {"sections": [*changes, _change("words", a.words, b.words)]}


def diff_lines(document: Document) -> list[str]:
    lines = []
    for section in document["sections"]:
        lines.append(f"{section['change']:8} {section['name']}")
        lines += [f"  {safe(line)}" for line in section["lines"]]
    return lines


def verify(block: ContextBlock, frame: bytes, recorded_sha256: str) -> Document:
    """Whether the bytes that were written carry the snapshot.

    `frame` is the snapshot encoded again by the driver's own function; `recorded_sha256` was taken over the bytes that
    were handed to the write call. Both must agree, and the text must stand in the frame once, whole.
    """
    text = block.text
    found = sum(part.count(text) for part in _strings(frame)) if text else 0
    checks = [
        ("the frame is the one that was written", sha256(frame).hexdigest() == recorded_sha256),
        ("the snapshot stands in it once, whole", found == 1),
        ("the marker comes first where the words begin", block.bare or _marked_once(block)),
    ]
    return {
        "ok": all(holds for _, holds in checks),
        "checks": [{"what": what, "holds": holds} for what, holds in checks],
        "frame_sha256": sha256(frame).hexdigest(),
        "recorded_sha256": recorded_sha256,
        "bytes": len(text.encode()),
    }


def verify_lines(document: Document) -> list[str]:
    lines = [f"{'ok  ' if check['holds'] else 'FAIL'} {check['what']}" for check in document["checks"]]
    return [*lines, f"     {document['bytes']:,} bytes of text; frame sha256 {document['frame_sha256']}"]


def _marked_once(block: ContextBlock) -> bool:
    """The live marker is the first one: whatever looks like it behind it belongs to the person's words."""
    head, _, words = block.text.partition(f"{MARKER}\n")
    return words == block.words and MARKER not in head


def _strings(frame: bytes) -> Iterator[str]:
    """Every string value in the JSON lines of a frame."""
    waiting: list[Any] = []
    for line in frame.split(b"\n"):
        try:
            waiting.append(json.loads(line))
        except ValueError:
            continue
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as fields:
                waiting.extend(fields.values())
            case list() as values:
                waiting.extend(values)


def _change(name: str, old: str | None, new: str | None) -> Document:
    change = "same" if old == new else "added" if old is None else "removed" if new is None else "changed"
    lines = unified_diff((old or "").split("\n"), (new or "").split("\n"), lineterm="", n=1)
    return {"name": name, "change": change, "lines": list(lines)[2:]}


def _row(row: Disposition) -> Document:
    return {
        "section": row.section,
        "kind": row.source_kind,
        "id": row.source_id,
        "revision": row.revision,
        "bytes": row.size_bytes,
        "tokens": row.tokens,
        "verdict": row.verdict.value,
        "reason": row.reason,
        "parts": row.parts,
    }


def _because(row: Document) -> str:
    return "; ".join(part for part in (row["reason"], row.get("parts", "")) if part)


def _table(rows: Sequence[Document]) -> list[str]:
    """The dispositions in columns as wide as they need to be."""
    cells = [("section", "what", "bytes", "tokens", "became", "why")]
    for row in rows:
        what = f"{row['kind']} {row['id']}" + (f" rev {row['revision']}" if row["revision"] else "")
        figures = str(row["bytes"]), str(row["tokens"])
        cells.append((row["section"], safe(what).replace("\n", " "), *figures, row["verdict"], safe(_because(row))))
    widths = [max(len(row[column]) for row in cells) for column in range(6)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
