"""What a type cannot say: names, zones, accounts and paths that must make sense, and must not collide."""

import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from kai.settings.files import read
from kai.settings.problems import Problem, did_you_mean
from kai.settings.values import PersonEntry, Settings, UpstreamEntry, Workspace
from kai.settings.yaml_marks import KeyPath, Marked

MAX_PROMPT_BYTES = 128 * 1024
_OS_USER = re.compile(r"[a-z_][a-z0-9_.-]{0,30}\$?")
_OS_USER_HINT = "an OS user's name has lower-case letters, digits, '_', '-' and '.'"
_BRIDGE = re.compile(r"[a-z][a-z0-9_-]{0,31}")


def settings(found: Settings | None, marked: Marked) -> None:
    """Checks of kai.yaml."""
    for number, user in enumerate(found.operators if found else ()):
        if not _OS_USER.fullmatch(user):
            marked.add(("operators", number), f"{user!r} is no OS user's name", _OS_USER_HINT)


def persons(found: Mapping[str, PersonEntry], marked: Marked) -> None:
    """Checks of people.yaml: an OS user and an account belong to one person only."""
    _names(marked)
    owners: dict[tuple[str, str], str] = {}
    for name, entry in found.items():
        if entry.os_user:
            if not _OS_USER.fullmatch(entry.os_user):
                marked.add((name, "os_user"), f"{entry.os_user!r} is no OS user's name", _OS_USER_HINT)
            _claim(owners, ("OS user", entry.os_user), name, marked, (name, "os_user"))
        if entry.email and not re.fullmatch(r"[^@\s]+@[^@\s]+", entry.email):
            marked.add((name, "email"), f"{entry.email!r} is no e-mail address", "write name@example.org")
        if entry.zone:
            _zone(entry.zone, marked, (name, "zone"))
        if entry.legacy_chat_id and not re.fullmatch(r"[\w@+.:-]{1,128}", entry.legacy_chat_id.lstrip(".")):
            marked.add((name, "legacy_chat_id"), "it must be the plain name of one folder")
        for bridge, accounts in entry.accounts.items():
            if not _BRIDGE.fullmatch(bridge):
                marked.add((name, "accounts", bridge), f"{bridge!r} is no bridge's name", at_key=True)
            for number, account in enumerate(accounts):
                _claim(owners, (f"{bridge} account", str(account)), name, marked, (name, "accounts", bridge, number))


def workspaces(
    found: Mapping[str, Workspace], marked: Marked, config: Path, at: Settings | None
) -> tuple[Workspace, ...]:
    """Checks of workspaces.yaml; gives them with the text of every prompt file that lies in the config folder."""
    _names(marked)
    owners: dict[tuple[str, str], str] = {}
    for name, entry in found.items():
        if not Path(entry.path).is_absolute() or ".." in Path(entry.path).parts:
            marked.add((name, "path"), f"{entry.path!r} is not an absolute path", "begin with / and use no '..'")
        _claim(owners, ("path", str(Path(entry.path))), name, marked, (name, "path"))
        if not entry.native_files:
            marked.add((name, "native_files"), "switching them off is not built yet", "set it to true")
    inline = at is None or at.people.files == "inline"
    return tuple(_with_prompt(entry, marked, config, inline=inline) for entry in found.values())


def upstreams(found: Mapping[str, UpstreamEntry], marked: Marked) -> None:
    """Checks of egress.yaml."""
    _names(marked)
    for name, entry in found.items():
        parts = urlsplit(entry.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            marked.add(
                (name, "url"), f"{entry.url!r} is not a whole URL", "write https://HOST/PATH, with nothing after it"
            )
        elif parts.username or parts.password:
            marked.add((name, "url"), "it holds a login", "give the key a file, and name it with 'key'")
        if entry.key and not re.fullmatch(r"[A-Za-z0-9_-]+", entry.key):
            marked.add((name, "key"), f"{entry.key!r} is not a file's name", "use letters, digits, '-' and '_'")


def _with_prompt(entry: Workspace, marked: Marked, config: Path, *, inline: bool) -> Workspace:
    if not entry.system_prompt_file:
        return entry
    path: KeyPath = (entry.name, "system_prompt_file")
    if entry.system_prompt:
        marked.add(path, "system_prompt is set as well", "keep one of the two")
    absolute = Path(entry.system_prompt_file).is_absolute()
    if absolute and not inline:
        return entry  # a person's file: the run that may read it reports what it finds
    text = read(config / entry.system_prompt_file, optional=False, max_bytes=MAX_PROMPT_BYTES)
    if isinstance(text, Problem):
        marked.add(path, f"{text.file}: {text.message}", text.hint or "correct the path")
    elif text is None or len(text) > MAX_PROMPT_BYTES:
        marked.add(path, f"the file has more than {MAX_PROMPT_BYTES:,} bytes", "shorten it")
    else:
        try:
            decoded = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            marked.add(path, f"{config / entry.system_prompt_file} is not UTF-8", "save it as UTF-8")
        else:
            return entry if absolute else replace(entry, system_prompt=decoded, system_prompt_file="")
    return entry


def _names(marked: Marked) -> None:
    seen: dict[str, str] = {}
    for name in marked.data if isinstance(marked.data, dict) else ():
        if not name.isprintable() or name != name.strip() or not 0 < len(name) <= 64 or "/" in name:
            marked.add((name,), f"{name!r} is no name", "1 to 64 printable characters, no '/'", at_key=True)
        elif (other := seen.setdefault(name.casefold(), name)) != name:
            marked.add((name,), f"it differs from {other!r} only in capitals", "choose another name", at_key=True)


def _claim(
    owners: dict[tuple[str, str], str], thing: tuple[str, str], name: str, marked: Marked, path: KeyPath
) -> None:
    owner = owners.setdefault(thing, name)
    if owner != name:
        marked.add(path, f"{thing[0]} {thing[1]!r} is {owner}'s already", "it must belong to one only")


def _zone(zone: str, marked: Marked, path: KeyPath) -> None:
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        hint = did_you_mean(zone, zoneinfo.available_timezones())
        marked.add(path, f"{zone!r} is no IANA time zone", hint if len(hint) < 80 else "such as Europe/Berlin")
