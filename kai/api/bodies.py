"""What may be sent: the shapes of bodies and queries, strict. The OpenAPI document is made from them.

Who speaks is never among the fields: it follows from the peer's uid, and a field that claims it is refused by name.
"""

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from kai.model.errors import BadInputError
from kai.model.memory import Kind
from kai.model.turns import ReceiptOutcome
from kai.settings.problems import did_you_mean

IDENTITY = frozenset(
    {"principal", "principal_id", "person", "bridge", "as", "kai_as", "uid", "user", "os_user", "operator", "caller"}
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def harmless(value: Any) -> Any:
    """Text that UTF-8 and a C string can carry: half a surrogate pair becomes U+FFFD, NUL becomes U+2400.

    Refusing it would lose a person's message for a fault of their app.
    """
    return _SURROGATES.sub("\ufffd", value).replace("\0", "\u2400") if isinstance(value, str) else value


Words = Annotated[str, BeforeValidator(harmless)]
# Keys are refused where words are mended: two different keys must never become one.
Key = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\x00-\x1f\x7f]*$")]
KeyOrNone = Annotated[str, StringConstraints(max_length=512, pattern=r"^[^\x00-\x1f\x7f]*$")]
Limit = Annotated[int, Field(ge=1, le=500)]
Number = Annotated[int, Field(ge=0, lt=2**63)]


class Fields(BaseModel):
    """What a route takes; an unknown field is refused."""

    # Built at the first use: most of them are used by few, and all of them would be waited for at each start.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)


class Query(Fields):
    """The part behind the question mark: text that is read as the field's type."""


class Body(Fields):
    """JSON, without any coercion."""

    model_config = ConfigDict(strict=True)


class NoQuery(Query):
    """No parameters."""


class NoBody(Body):
    """Nothing at all, or an empty object."""


class MessageBody(Body):
    """A message as a bridge hands it in; unique per (bridge instance, chat, external_id).

    `temporary`: nothing of it and of its answer is kept, as in a conversation that is temporary.
    """

    chat: Key
    external_id: Key
    thread: KeyOrNone = ""
    sender: KeyOrNone = ""
    text: Words = ""
    attachments: Annotated[tuple[Key, ...], Field(strict=False, max_length=64)] = ()
    reply_to: KeyOrNone = ""
    edit_of: KeyOrNone = ""
    deleted: bool = False
    sent_at: Annotated[AwareDatetime | None, Field(strict=False)] = None
    temporary: bool = False


class ReceiptBody(Body):
    """What became of a delivery. `external_ids` are the chat app's ids of the parts that went out."""

    outcome: Annotated[ReceiptOutcome, Field(strict=False)]
    external_ids: Annotated[tuple[Key, ...], Field(strict=False, max_length=1000)] = ()
    problem: Words = ""


class AnswerBody(Body):
    """The answer to a permission question: the key of a choice, or text where the question takes it."""

    choice: KeyOrNone = ""
    text: Words = ""


class PreviewBody(Body):
    """A message that is not sent."""

    text: Words
    channel: Key | None = None


class SearchBody(Body):
    """Words to look for in the messages of a channel; without one, the caller's own."""

    query: Words
    channel: Key | None = None
    limit: Limit = 20


class PersonBody(Body):
    """A new person. An empty `os_user` is the daemon's own."""

    name: Key
    os_user: KeyOrNone = ""


class PersonChange(Body):
    """What shall change; a field that is left out stays."""

    name: Key | None = None
    os_user: KeyOrNone | None = None
    email: KeyOrNone | None = None
    zone: KeyOrNone | None = None
    permissions: KeyOrNone | None = None
    legacy_chat_id: KeyOrNone | None = None


class ChannelBody(Body):
    """A new shared channel. An empty `os_user` of its seat is the daemon's own; `members` by name or id."""

    title: Key
    os_user: KeyOrNone = ""
    members: Annotated[tuple[Key, ...], Field(strict=False, max_length=256)] = ()


class ChannelChange(Body):
    """What shall change in a shared channel; a field that is left out stays."""

    title: Key | None = None
    os_user: KeyOrNone | None = None


class MemberBody(Body):
    """Whether somebody is a member of a shared channel from now on."""

    member: Key
    present: bool = True


class AddressBody(Body):
    """A place in a chat app, as the bridge instance `bridge` knows it."""

    bridge: Key
    chat: Key
    thread: KeyOrNone = ""


class FileBody(Body):
    """A file that an agent made: a path below the workspace or the home of the channel's seat."""

    path: Key


class AccountBody(Body):
    """An account in a chat app that belongs to a person, as verified by the operator."""

    bridge: Key
    account: Key


class UseBody(Body):
    """What shall be used from now on; an empty field says nothing, "-" takes a choice back.

    With `begin`, `channel` is a title, and a new one begins a conversation. `temporary` "on" or "off": whether what is
    said from the next message on is kept nowhere.
    """

    channel: Key | None = None
    temporary: Literal["", "on", "off"] = ""
    backend: KeyOrNone = ""
    model: KeyOrNone = ""
    effort: KeyOrNone = ""
    workspace: KeyOrNone = ""
    agent: KeyOrNone = ""
    wait: bool = False
    begin: bool = False


class Place(Body):
    """A channel by id or title; without one, the caller's own conversation. `op`: a repeat is answered, not done."""

    channel: Key | None = None
    op: KeyOrNone = ""


class RecordBody(Place):
    """What shall be kept. `pinned`: it goes along with every message; `ttl_s`: for so long; `family`: one of a kind."""

    text: Words
    kind: Annotated[Kind, Field(strict=False)] = Kind.FACT
    namespace: KeyOrNone = ""
    family: KeyOrNone = ""
    pinned: bool | None = None
    ttl_s: Annotated[float, Field(ge=0, lt=1e10, allow_inf_nan=False)] = 0.0
    sensitivity: KeyOrNone = ""


class CorrectionBody(Place):
    """Another text for a record. `base` is the revision that the caller knows: another one is a conflict."""

    text: Words
    base: Number | None = None


class BaseBody(Place):
    """`base` is the revision that the caller knows: another one is a conflict."""

    base: Number | None = None


class GrantBody(Place):
    """Opens a record (its id) or a namespace to a channel or a person, for some days or for good (0)."""

    what: Key
    to: Key
    days: Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False)] = 0.0


class RecallBody(Body):
    """Words to look for in what is remembered; `namespaces` narrow it and never widen it."""

    query: Words
    namespaces: Annotated[tuple[Key, ...], Field(strict=False, max_length=32)] = ()
    channel: Key | None = None
    limit: Limit = 20


class ImportBody(Place):
    """What an export gave, or the text of a MEMORY.md. `dry_run`: only say what would become of it."""

    document: dict[str, Any] = Field(default_factory=dict)
    markdown: Annotated[str, Field(max_length=4_000_000)] = ""
    dry_run: bool = False


class WhereQuery(Query):
    channel: Key | None = None


class RowsQuery(Query):
    channel: Key | None = None
    limit: Limit = 50


class AuditQuery(RowsQuery):
    """`mine`: also what others read of the caller's."""

    mine: bool = False


class RecordsQuery(Query):
    """`status` empty: whatever it is."""

    channel: Key | None = None
    limit: Limit = 50
    status: Literal["active", "superseded", "forgotten", "expired", "candidate", ""] = "active"


class AttachmentQuery(Query):
    """What the sender called the file."""

    name: Annotated[str, Field(max_length=1024)] = ""


class DeliveriesQuery(Query):
    """`after`: the number of the last delivery that was received. `idempotent`: repeating a send does no harm."""

    after: Number | None = None
    idempotent: bool = False


class TurnsQuery(Query):
    channel: Key | None = None
    limit: Limit = 50


class MessagesQuery(Query):
    before: Number | None = None
    limit: Limit = 50


class AgentQuery(Query):
    """`revision`: a version that was in force, by the beginning of its hash."""

    revision: KeyOrNone = ""


class ContextQuery(Query):
    why: bool = False


class DiffQuery(Query):
    a: Key
    b: Key


_Shape = TypeVar("_Shape", bound=Fields)


def checked(shape: type[_Shape], data: Any) -> _Shape:
    """`data` as `shape`. Raises `BadInputError` that names the first wrong field, its rule and the nearest name."""
    try:
        return shape.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        # A mistyped name shows as one field too many and one missing: the first says more.
        first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
        raise _bad(shape, first["loc"], first["type"], first["msg"]) from None


def _bad(shape: type[Fields], loc: tuple[int | str, ...], kind: str, message: str) -> BadInputError:
    path = str(harmless(".".join(str(part) for part in loc)))[:100] or "body"
    last = str(loc[-1])[:100] if loc else ""
    match kind:
        case "extra_forbidden" if last.replace("-", "_").lower() in IDENTITY:
            remedy = "Leave it out; an operator names another person in the header 'kai-as'."
            return BadInputError(path, "who speaks follows from the socket's peer, never from what it sends", remedy)
        case "extra_forbidden":
            return BadInputError(path, "there is no such field", did_you_mean(last, shape.model_fields).capitalize())
        case "missing":
            return BadInputError(path, "is missing")
        case "string_pattern_mismatch":
            return BadInputError(path, "may hold no control character")
        case _:
            return BadInputError(path, f"{message[:1].lower()}{message[1:]}")
