"""Files on their way between the daemon and an agent that runs as another OS user: brought in, and fetched back."""

from pathlib import Path

import anyio
from anyio import to_thread

from kai.launcher.errand import RefusedError, contents
from kai.log import log
from kai.model.errors import DeniedError, ErrandError, KaiError, UnknownThingError
from kai.model.ids import ChannelId, PrincipalId
from kai.model.messages import Message
from kai.people.folders import PersonFolders
from kai.turns.backends import os_user
from kai.turns.parts import Parts
from kai.turns.route import Route, decide, look

FETCH_BYTES = 64 * 1024 * 1024  # of one file, which is in memory on its way


async def handed(parts: Parts, route: Route, message: Message) -> tuple[str, ...]:
    """Where the agent finds each file of `message`; empty for one that is gone, or could not be brought to it.

    The daemon's own user reads them where they lie. To another OS user they are brought, once each, by an errand as
    that user; what was brought longer than ``attachments.days`` ago is removed on the way.
    """
    if route.os_user == os_user() or not message.attachments:
        return tuple([one.path if await anyio.Path(one.path).exists() else "" for one in message.attachments])
    folder = parts.folders.brought(route.home)
    paths = []
    for one in message.attachments:
        path = folder / one.ref / one.name
        try:
            await parts.errands.bring(route.os_user, path, root=route.home, source=Path(one.path))
        except (KaiError, OSError) as error:
            log.warning("file.not_brought", attachment=one.ref, os_user=route.os_user, problem=str(error))
            path = Path()
        paths.append(str(path) if path.name else "")
    try:
        days = parts.config.settings.attachments.days
        await parts.errands.tidy(route.os_user, folder, root=route.home, days=days)
    except KaiError as error:
        log.warning("file.not_removed", os_user=route.os_user, problem=str(error))
    return tuple(paths)


async def seed(parts: Parts, principal: str, user: str, legacy_chat_id: str = "", *, shared: bool = False) -> None:
    """Make the first files of a person, or of a `shared` channel's seat, as its OS user; what is there stays.

    Of another OS user than the daemon's the folders themselves must be there: root makes them. Raises `KaiError`,
    `OSError`.
    """
    whose, folders = PrincipalId(principal), parts.folders
    if user == os_user():
        await to_thread.run_sync(lambda: folders.seed(whose, legacy_chat_id, shared=shared))
        return

    def files() -> list[tuple[Path, Path, str]]:
        wanted = folders.seeds(whose, legacy_chat_id, shared=shared)
        return [(path, _root(folders, path), source.read_text(encoding="utf-8")) for path, source in wanted]

    await parts.errands.seed(user, await to_thread.run_sync(files))


def _root(folders: PersonFolders, path: Path) -> Path:
    """The person's folder that `path` lies in: it and what is above it is root's doing, what is below it theirs."""
    return folders.root.joinpath(*path.relative_to(folders.root).parts[:2])


async def fetch(parts: Parts, principal: PrincipalId, channel: ChannelId, path: str) -> tuple[bytes, str]:
    """A file that an agent made, and its name: from the workspace or the home of the seat in `channel`.

    It is read as the seat's own OS user, by the rules of `errand.opened`. Raises `DeniedError`, `ErrandError`.
    """
    looked = await parts.store.read(look, principal, channel)
    if principal not in looked.channel.members:
        raise UnknownThingError("channel", channel)
    route = await decide(looked, parts.config, parts.backends, parts.folders)
    wanted = route.workspace / path
    root = next((root for root in (route.home, route.workspace) if wanted.is_relative_to(root)), None)
    if root is None:
        remedy = f"It must lie below {route.workspace} or {route.home}."
        raise DeniedError(f"{path} is neither in the workspace nor in the home of this channel", remedy)
    most = min(parts.config.settings.attachments.max_bytes, FETCH_BYTES)
    if route.os_user != os_user():
        return await parts.errands.fetch(route.os_user, wanted, root=root, max_bytes=most), wanted.name
    try:
        return await to_thread.run_sync(contents, str(wanted), str(root), None, most), wanted.name
    except RefusedError as refused:
        raise ErrandError(route.os_user, str(wanted), str(refused) or refused.state, refused.state) from refused
