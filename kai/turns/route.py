"""Where a turn goes: which person, channel, backend, model, workspace and agent definition, by one precedence."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from kai.model.agents import AgentDefinition
from kai.model.backends import Manifest
from kai.model.context import Prompt
from kai.model.errors import ChoiceGoneError, KaiError, UnknownThingError
from kai.model.ids import ChannelId, PrincipalId, TurnId
from kai.model.messages import Message
from kai.model.people import Address, Channel, ChannelKind, Person, Preference
from kai.model.turns import Dispatch, Turn
from kai.model.work import Delegation
from kai.people.folders import PersonFolders
from kai.settings import why
from kai.settings.values import Settings, Workspace
from kai.store import channels, delegations, messages, people, turns
from kai.store import choices as chosen
from kai.store.binding import Connection
from kai.turns.backends import Backends, os_user
from kai.turns.config import Config
from kai.turns.pool import Live

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Looked:
    """What the store knows of a place to talk, read in one hop."""

    person: Person
    channel: Channel
    members: tuple[Person, ...]
    by_person: Preference
    by_channel: Preference
    temporary: bool = False
    delegated: Delegation | None = None
    seat: Channel | None = None  # where the agent sits, when that is not the channel itself


@dataclass(frozen=True, slots=True)
class Route:
    """A decided way. `home` and `os_user` are those of the seat: of the person, or of the shared channel."""

    person: Person
    channel: Channel
    members: tuple[Person, ...]
    manifest: Manifest
    model: str
    effort: str
    agent: AgentDefinition
    home: Path
    workspace: Path
    workspace_entry: Workspace | None
    permissions: str
    os_user: str
    temporary: bool = False  # nothing of it is kept, here or by the backend
    delegated: Delegation | None = None
    sits_in: Channel | None = None

    @property
    def seat(self) -> Channel:
        """The channel whose people, history and seat these are: delegated work has a lane of its own beside it."""
        return self.sits_in or self.channel

    @property
    def depth(self) -> int:
        """How far it is from the agent that the person talks to."""
        return self.delegated.depth if self.delegated else 0

    @property
    def is_home(self) -> bool:
        return self.workspace == self.home

    @property
    def is_shared(self) -> bool:
        return self.channel.kind is ChannelKind.SHARED


def look(db: Connection, principal: PrincipalId, channel: ChannelId, temporary: bool | None = None) -> Looked:
    """`temporary`: whether a turn is; None: as the channel is now. Raises `UnknownThingError` when either is gone."""
    where, person = channels.get(db, channel), people.get(db, principal)
    if where.parent is None:
        return look_around(db, person, where, where.temporary if temporary is None else temporary)
    seat, live = channels.get(db, where.parent), turns.of_channel(db, channel, 1)
    around = look_around(db, person, seat, bool(live and live[0].temporary))
    delegated = delegations.of_turn(db, live[0].turn) if live else None
    return replace(around, channel=where, delegated=delegated, seat=seat)


def look_around(db: Connection, person: Person, where: Channel, temporary: bool) -> Looked:
    """What goes with a person and a channel that are known."""
    members = tuple(person if member == person.principal else people.get(db, member) for member in where.members)
    by_person, by_channel = chosen.preferences(db, person.principal, where.channel)
    return Looked(person, where, members, by_person, by_channel, temporary)


@dataclass(frozen=True, slots=True)
class Begun:
    """That a turn runs as of its accept, and with what."""

    route: Route
    held: Live
    prompt: Prompt
    dispatch: Dispatch


@dataclass(frozen=True, slots=True)
class Next:
    """The first turn of a lane with its place and its message: one look into the store for all of it.

    `found` is the error instead when one of them is gone: it is for the turn to fail by it, not for the lane.
    """

    turn: Turn
    address: Address
    found: tuple[Looked, Message] | KaiError
    begun: Begun | None = None


def look_at_next(db: Connection, channel: ChannelId, going_on: TurnId | None = None) -> Next | None:
    """The turn that waits longest in a channel, or first of all the one that is `going_on` there."""
    turn = turns.get(db, going_on) if going_on else turns.next_queued(db, channel)
    if turn is None:
        return None
    found: tuple[Looked, Message] | KaiError
    try:
        found = look(db, turn.principal, turn.channel, turn.temporary), messages.get(db, turn.message)
    except UnknownThingError as error:
        found = error
    return Next(turn, channels.address_of(db, turn.address), found)


async def decide(looked: Looked, config: Config, backends: Backends, folders: PersonFolders) -> Route:
    """As `known_way`; what is not known yet is looked for."""
    while (way := known_way(looked, config, backends, folders)) is None:
        is_shared = looked.channel.kind is ChannelKind.SHARED
        seat = looked.seat or looked.channel
        await backends.automatic(seat.os_user if is_shared else looked.person.os_user)
    return way


def known_way(looked: Looked, config: Config, backends: Backends, folders: PersonFolders) -> Route | None:
    """Channel's choice > workspace > person's choice > default; what ``people.yaml`` says stands above them all.

    None: nobody has looked yet which backends there are. Raises `ChoiceGoneError` for a backend, a workspace or an
    agent definition that is not there any more.
    """
    settings = config.settings
    is_shared = looked.channel.kind is ChannelKind.SHARED
    seat = looked.seat or looked.channel
    home = folders.seat_home(seat.channel) if is_shared else folders.home(looked.person.principal)
    user = (seat.os_user or os_user()) if is_shared else looked.person.os_user
    entry = _workspace(looked, settings)
    workspace = Path(entry.path) if entry is not None else home
    ceiling = settings.person(looked.person.name)
    choices = why.Choices(ceiling, entry, looked.by_channel, looked.by_person, looked.person.permissions)
    backend = why.backend(settings, choices).value
    if backend == "auto":
        backend = backends.known_automatic(user) or ""
    if not backend:
        return None
    delegated, own = looked.delegated, why.agent(settings, choices).value
    manifest = _still("backend", backend, config.manifests)
    return Route(
        person=looked.person,
        channel=looked.channel,
        members=looked.members,
        manifest=manifest,
        model=why.model(choices, manifest).value,
        effort=why.effort(choices, manifest).value,
        agent=_still("agent definition", delegated.agent if delegated else own, config.agents),
        home=home,
        workspace=workspace,
        workspace_entry=entry,
        permissions=why.permissions(settings, choices).value,
        os_user=user,
        temporary=looked.temporary,
        delegated=delegated,
        sits_in=looked.seat,
    )


def _workspace(looked: Looked, settings: Settings) -> Workspace | None:
    name = looked.by_channel.workspace or looked.by_person.workspace
    if not name:
        return None
    return _still("workspace", name, {each.name: each for each in settings.workspaces})


def _still(what: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        command = f"/{what.split(maxsplit=1)[0]}"
        also = ", and so does 'kai use -'" if what == "backend" else ""
        raise ChoiceGoneError(what, name, f"'{command} -' takes the choice back{also}; '{command} NAME' makes another.")
    return known[name]
