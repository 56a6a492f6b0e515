"""Evidence for people: the exact block of a turn, why it holds what it holds, and that it is what was written."""

from dataclasses import asdict
from typing import Any

from kai.context import evidence
from kai.context.assemble import assemble
from kai.context.evidence import Document, Earlier
from kai.model.context import ContextBlock, Prompt
from kai.model.errors import UnknownThingError
from kai.model.ids import ChannelId, PrincipalId, TurnId
from kai.model.messages import Message
from kai.model.turns import Dispatch
from kai.protocols.driver import DriverSetup
from kai.protocols.registry import transport_frame
from kai.store import messages, snapshots, turns
from kai.store.binding import Connection
from kai.turns.facts import facts_of_preview, media_for, pictures
from kai.turns.parts import Parts
from kai.turns.route import decide, look


class Evidence:
    """Reads snapshots. It claims no more than "dispatched": what was handed to the write call."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def show(self, turn: TurnId, *, why: bool) -> Document:
        """The block of the last attempt; with `why` what became of every item, and what the session was sent before."""
        dispatch, block, earlier = await self._parts.store.read(_last, turn)
        document = evidence.show(block, why=why, earlier=earlier if why else ())
        return {**document, "turn": turn, "dispatch": asdict(dispatch)}

    async def preview(self, principal: PrincipalId, channel: ChannelId, text: str) -> Document:
        """The block that `text` would get as the first message of a fresh session. Starts, counts and keeps nothing."""
        looked = await self._parts.store.read(look, principal, channel)
        route = await decide(looked, self._parts.config, self._parts.backends, self._parts.folders)
        return evidence.show(assemble(await facts_of_preview(self._parts, route, text)), why=True)

    async def diff(self, a: TurnId, b: TurnId) -> Document:
        """Which sections differ between the last attempts of two turns."""
        before, after = [(await self._parts.store.read(_last, turn))[1] for turn in (a, b)]
        return {"a": a, "b": b, **evidence.diff(before, after)}

    async def verify(self, turn: TurnId) -> Document:
        """Encode the snapshots of a turn through its driver again and compare them with what was written."""
        found, message = await self._parts.store.read(_every, turn)
        if not found:
            raise UnknownThingError("dispatch of turn", turn)
        checks = [await self._check(dispatch, block, message) for dispatch, block in found]
        return {"turn": turn, "ok": all(check["ok"] for check in checks), "dispatches": checks}

    async def _check(self, dispatch: Dispatch, block: ContextBlock, message: Message) -> Document:
        about: dict[str, Any] = {"dispatch": dispatch.dispatch, "attempt": dispatch.attempt, "state": dispatch.state}
        if dispatch.steered:
            return {**about, "ok": True, "checks": [], "note": "steered into the running turn: no digest of it is kept"}
        if not dispatch.frame_sha256:
            return {**about, "ok": True, "checks": [], "note": "nothing was written to the backend"}
        if await self._parts.store.read(snapshots.is_blank, dispatch.dispatch):
            return {**about, "ok": True, "checks": [], "note": "it was temporary: its text is erased, its hash kept"}
        manifest = self._parts.config.manifest(dispatch.backend)
        media = await media_for(manifest, message)
        if len(media) < len(pictures(manifest, message)):
            return {**about, "ok": True, "checks": [], "note": "a picture that went along is gone"}
        prompt = Prompt(dispatch.dispatch, block.text, media, bare=block.bare)
        frame = transport_frame(DriverSetup(manifest=manifest, cwd="/"), prompt, dispatch.native_id)
        return {**about, **evidence.verify(block, frame, dispatch.frame_sha256)}


def _last(db: Connection, turn: TurnId) -> tuple[Dispatch, ContextBlock, list[Earlier]]:
    found = [one for one in snapshots.dispatches(db, turn) if not one.steered]
    if not found:
        raise UnknownThingError("snapshot of turn", turn)
    last = found[-1]
    before = [
        one for one in snapshots.of_session(db, last.session) if one.sent_at and one.prepared_at < last.prepared_at
    ]
    earlier = [Earlier(one.dispatch, one.turn, one.sent_at, _names(db, one)) for one in before if one.sent_at]
    return last, snapshots.snapshot(db, last.dispatch), earlier


def _names(db: Connection, dispatch: Dispatch) -> tuple[str, ...]:
    try:
        return tuple(section.name for section in snapshots.snapshot(db, dispatch.dispatch).sections)
    except UnknownThingError:  # purged by now
        return ()


def _every(db: Connection, turn: TurnId) -> tuple[list[tuple[Dispatch, ContextBlock]], Message]:
    found = [(one, snapshots.snapshot(db, one.dispatch)) for one in snapshots.dispatches(db, turn)]
    return found, messages.get(db, turns.get(db, turn).message)
