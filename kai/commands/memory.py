"""``kai memory``."""

import json
from pathlib import Path
from typing import Any

import click

from kai.client import View
from kai.commands.show import when
from kai.commands.verb import Verb, verb
from kai.model.memory import Deed, Kind, Status

_COLUMNS = {
    "record": lambda one: one["record"],
    "kind": lambda one: one["kind"] + (" *" if one["pinned"] else ""),
    "said": lambda one: when(one["said_at"])[:10],
    "status": lambda one: one["status"],
    "text": lambda one: one["text"],
}
_HITS = {"score": lambda one: f"{one['score']:.2f}", **_COLUMNS}
_REVISIONS = {
    "rev": lambda one: one["revision"],
    "origin": lambda one: one["origin"],
    "by": lambda one: one["said_by"],
    "text": lambda one: one["content"] or "(erased)",
}
_RECEIPTS = {
    "at": lambda one: when(one["at"]),
    "operation": lambda one: one["operation"],
    "record": lambda one: one["record"],
    "outcome": lambda one: one["outcome"],
    "reason": lambda one: one["reason"],
    "by": lambda one: one["actor"],
}
_AUDIT = {
    "at": lambda one: when(one["at"]),
    "action": lambda one: one["action"],
    "way": lambda one: one["way"],
    "namespace": lambda one: one["namespace"],
    "status": lambda one: one["status"] + (f": {one['reason']}" if one["reason"] else ""),
    "eligible": lambda one: one["eligible"],
    "hits": lambda one: one["hits"],
    "submitted": lambda one: one["submitted"],
    "by": lambda one: one["actor"],
}
_GRANTS = {
    "grant": lambda one: one["grant_id"],
    "what": lambda one: one["record"] or one["namespace"],
    "to": lambda one: one["channel"] or one["principal"],
    "state": lambda one: "revoked" if one["revoked_at"] else "open",
}
channel_option = click.option("--channel", default="", metavar="C", help="As seen there [default: in your own].")
limit_option = click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True)
base_option = click.option("--base", type=int, help="The revision that you know: another one is a conflict.")
Texts = tuple[str, ...]


@click.group()
def command() -> None:
    """What is remembered of you. RECORD is an id, as 'list' shows it."""


@command.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]), default="fact", show_default=True)
@click.option("--pin/--no-pin", default=None, help="Goes along with every message [default: preferences do].")
@click.option("--family", default="", help="What it is about: it takes the place of the one before of that name.")
@click.option("--namespace", default="", help="Where it lives [default: by its kind].")
@click.option("--days", type=float, default=0.0, help="How long it holds [default: for good].")
@channel_option
@verb
def add(how: Verb, /, text: Texts, kind: str, pin: bool | None, days: float, **where: str) -> int:
    """Keep TEXT."""
    fields = {"text": " ".join(text), "kind": kind, "pinned": pin, "ttl_s": days * 86_400, **_given(where)}
    return _receipt(how, "save", fields)


@command.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--namespace", "namespaces", multiple=True, help="Only there; may be given several times.")
@channel_option
@limit_option
@verb
def search(how: Verb, words: Texts, namespaces: Texts, channel: str, limit: int) -> None:
    """Records that fit WORDS, the best first."""
    fields = {"query": " ".join(words), "namespaces": list(namespaces), "channel": channel or None, "limit": limit}
    found = how.ask(lambda client: client.memory("search", fields))
    nothing = "Nothing that is remembered fits." if found["status"] == "empty" else _denied(found)
    how.rows(found["hits"], _HITS, nothing=nothing) if not how.as_json else how.lines(found, ())
    if found["status"] in ("ok", "empty") and found.get("reason"):
        click.echo(f"Searched by words alone: {found['reason'].removeprefix('lexical: ')}.", err=True)


@command.command("list")
@click.option("--status", type=click.Choice([status.value for status in Status]), default="active", show_default=True)
@channel_option
@limit_option
@verb
def list_(how: Verb, status: str, channel: str, limit: int) -> None:
    """Your records, the last changed first; '*' goes along with every message."""
    fields = {"status": status, "channel": channel, "limit": str(limit)}
    how.rows(how.ask(lambda client: client.memory("records", fields)), _COLUMNS, nothing="Nothing is remembered yet.")


@command.command()
@click.argument("record")
@verb
def show(how: Verb, record: str) -> None:
    """One record."""
    how.facts(how.ask(lambda client: client.memory("record", {}, record)), ("revisions", "receipts"))


@command.command()
@click.argument("record")
@verb
def history(how: Verb, record: str) -> None:
    """Every version of a record, and the receipts of what made it so."""
    found = how.ask(lambda client: client.memory("record", {}, record))
    if how.as_json:
        how.lines({name: found[name] for name in ("revisions", "receipts")}, ())
        return
    how.rows(found["revisions"], _REVISIONS, nothing="")
    click.echo()
    how.rows(found["receipts"], _RECEIPTS, nothing="")


@command.command()
@click.argument("record")
@click.argument("text", nargs=-1, required=True)
@base_option
@verb
def correct(how: Verb, record: str, text: Texts, base: int | None) -> int:
    """Put TEXT in the place of what RECORD says."""
    return _receipt(how, "correct", {"text": " ".join(text), "base": base}, record)


@command.command()
@click.argument("record")
@click.option("--redact", is_flag=True, help="Also erase its text, the message it came from and what was sent of it.")
@base_option
@verb
def forget(how: Verb, record: str, redact: bool, base: int | None) -> int:
    """Use RECORD no more, by no way."""
    return _receipt(how, "redact", {}, record) if redact else _receipt(how, "forget", {"base": base}, record)


@command.command()
@click.argument("record")
@verb
def restore(how: Verb, record: str) -> int:
    """Use a forgotten RECORD again, while its text is kept."""
    return _receipt(how, "restore", {}, record)


@command.command("candidates")
@channel_option
@limit_option
@verb
def candidates_(how: Verb, channel: str, limit: int) -> None:
    """What was learned or noted and waits for your word: 'accept' uses it, 'reject' turns it down for good."""
    fields = {"status": Status.CANDIDATE.value, "channel": channel, "limit": str(limit)}
    how.rows(how.ask(lambda client: client.memory("records", fields)), _COLUMNS, nothing="Nothing waits.")


@command.command()
@click.argument("record")
@verb
def accept(how: Verb, record: str) -> int:
    """Use the candidate RECORD from now on."""
    return _receipt(how, "accept", {}, record)


@command.command()
@click.argument("record")
@verb
def reject(how: Verb, record: str) -> int:
    """Turn the candidate RECORD down: its text is not proposed again."""
    return _receipt(how, "reject", {}, record)


@command.command()
@limit_option
@verb
def receipts(how: Verb, limit: int) -> None:
    """What was done to your memory, the newest first."""
    rows = how.ask(lambda client: client.memory("receipts", {"limit": str(limit)}))
    how.rows(rows, _RECEIPTS, nothing="Nothing was done yet.")


@command.command()
@click.option("--mine", is_flag=True, help="Also what others read of yours, by a grant.")
@limit_option
@verb
def audit(how: Verb, mine: bool, limit: int) -> None:
    """Who read and wrote what for you, the newest first; searches that found nothing too."""
    rows = how.ask(lambda client: client.memory("audit", {"limit": str(limit), "mine": str(mine).lower()}))
    how.rows(rows, _AUDIT, nothing="Nothing was read yet.")


@command.command()
@click.argument("what")
@click.argument("to")
@click.option("--days", type=float, default=0.0, help="For how long [default: until it is revoked].")
@verb
def grant(how: Verb, what: str, to: str, days: float) -> int:
    """Open WHAT, a record or a namespace of yours, to the channel or person TO."""
    return _receipt(how, "grant", {"what": what, "to": to, "days": days})


@command.command()
@click.argument("grant_id", metavar="GRANT")
@verb
def revoke(how: Verb, grant_id: str) -> int:
    """Take a grant back."""
    return _receipt(how, "revoke", {}, grant_id)


@command.command()
@verb
def grants(how: Verb) -> None:
    """What you opened to others."""
    how.rows(how.ask(lambda client: client.memory("grants", {})), _GRANTS, nothing="Nothing is open to others.")


@command.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@verb
def export(how: Verb, file: Path | None) -> None:
    """Write your memory to FILE or print it: JSON, with hashes of what was forgotten."""
    text = json.dumps(how.ask(lambda client: client.memory("export", {})), indent=1, ensure_ascii=file is None)
    if file is None:
        click.echo(text)
    else:
        file.touch(mode=0o600)
        file.write_text(text + "\n", encoding="utf-8")


@command.command("import")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--dry-run", is_flag=True, help="Only say what would be kept, what is known, and what is refused.")
@verb
def import_(how: Verb, file: Any, dry_run: bool) -> None:
    """Take in FILE: an export, or a MEMORY.md, of which each item is a record. What was forgotten stays forgotten."""
    text = file.read()
    fields: dict[str, Any] = {"dry_run": dry_run}
    if file.name.lower().endswith((".md", ".markdown")):
        fields["markdown"] = text or "\n"
    else:
        try:
            fields["document"] = json.loads(text)
        except ValueError as error:
            raise click.UsageError(f"This is no JSON, and its name does not end with .md: {error}") from None
    found = how.ask(lambda client: client.memory("import", fields))
    counts = [f"{count} {what}" for what, count in found["counts"].items()] or ["Nothing is in it."]
    if dry_run:
        counts.append("Nothing was kept: this was to see what would be.")
    how.lines(found, [*map(_entry, found["entries"]), *counts])


@command.command()
@verb
def gc(how: Verb) -> None:
    """Take out of use what is over, erase what was forgotten long enough ago. It also happens by itself."""
    how.facts(how.ask(lambda client: client.memory("gc", {})))


@command.command()
@verb
def reindex(how: Verb) -> None:
    """Make every index anew: words at once, another embedder's vectors one after the other."""
    found = how.ask(lambda client: client.memory("reindex", {}))
    more = [f"Vectors of {found['shelves']} shelves are made anew."] if found.get("shelves") else []
    more += [found["vectors"]] if found.get("vectors") else []
    how.lines(found, [f"Indexed {found['records']} records by their words.", *more])


@command.command()
@click.option("--reindex", is_flag=True, help="First make every index anew.")
@verb
def doctor(how: Verb, reindex: bool) -> int:
    """Check records and indexes. Exit status 1 when something is wrong."""
    if reindex:
        how.ask(lambda client: client.memory("reindex", {}))
    found = how.ask(lambda client: client.memory("doctor", {}))
    how.lines(found, [f"{one['name']}: {one['problem']}. {one['mend']}" for one in found] or ["Nothing is wrong."])
    return 1 if found else 0


def _receipt(how: Verb, deed: str, fields: View, record: str = "") -> int:
    """Exit status 1 when what was asked does not hold now."""
    found = how.ask(lambda client: client.memory(deed, fields, record))
    how.lines(found, [found["sentence"]])
    return 0 if found["outcome"] in (Deed.COMMITTED, Deed.NOOP) else 1


def _entry(one: View) -> str:
    why = f" ({one['reason']})" if one["reason"] else ""
    return f"line {one['line']}: {one['outcome']}{why}" + (f": {one['kind']}: {one['text']}" if one["text"] else "")


def _given(fields: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


def _denied(found: View) -> str:
    return f"Not searched: {found['status']}{': ' + found['reason'] if found['reason'] else ''}."
