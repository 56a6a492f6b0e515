"""What stands behind the two faces, made of a daemon's work once somebody has asked for it."""

from contextlib import suppress

from kai.api.attachments import AttachmentFolder
from kai.api.callers import Callers
from kai.api.endpoint import Parts
from kai.api.faces import Threshold
from kai.model.people import Person
from kai.store import people
from kai.store.database import Store
from kai.tools.door import AgentDoor
from kai.turns.ground import Ground
from kai.turns.work import Work


def parts_of(ground: Ground, work: Work, threshold: Threshold) -> Parts:
    """All that the handlers stand on. Makes the folder of the attachments: blocks."""
    settings, attachments = ground.config, AttachmentFolder(ground.folders.state / "attachments")
    with suppress(OSError):  # a disk that takes no files is told to whoever brings one, and by the doctor
        attachments.prepare()
    return Parts(
        door=work.door,
        callers=Callers(
            _Directory(ground.store), lambda: settings.settings.operators, changes=lambda: work.door.removals
        ),
        attachments=attachments,
        agents=AgentDoor(work.parts),
        max_body_bytes=lambda: settings.settings.api.max_body_bytes,
        max_attachment_bytes=lambda: settings.settings.attachments.max_bytes,
        limits=threshold.limits,
        streams=threshold.streams,
    )


class _Directory:
    """The people as the door looks them up."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def by_os_user(self, os_user: str) -> Person | None:
        return await self._store.read(people.by_os_user, os_user)

    async def by_name(self, name: str) -> Person | None:
        return await self._store.read(people.by_name, name)
