"""Facts as they come up in a house with a garden, to be changed by each test."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from kai.model.agents import AgentDefinition, Skill
from kai.model.context import (
    Budget,
    Facts,
    FileState,
    HistoryFacts,
    Hit,
    MemoryMode,
    PersonFile,
    Retrieval,
    RetrievalStatus,
    Speaker,
    ToolNotice,
)
from kai.model.ids import AttachmentRef, ChannelId, MessageId, PrincipalId, TurnId
from kai.model.messages import AttachmentInfo, Author, Message
from kai.model.people import ChannelKind

ANN = PrincipalId("p-5d1")
GARDEN = ChannelId("c-garden")
NOW = datetime(2026, 11, 30, 18, 41, tzinfo=ZoneInfo("Europe/Berlin"))
STATE = "/var/lib/kai"


def message(number: int, text: str, author: Author = Author.PERSON, **changes: Any) -> Message:
    """A message of the garden channel, one a minute."""
    made = Message(
        MessageId(f"m-{number}"),
        GARDEN,
        number,
        author,
        ANN,
        "Ann" if author is Author.PERSON else "kai",
        text,
        datetime(2026, 11, 29, 20, 0, tzinfo=UTC) + timedelta(minutes=number),
        backend="codex" if author is Author.AGENT else "",
    )
    return replace(made, **changes)


def person_file(kind: str, name: str, text: str = "", state: FileState = FileState.PRESENT) -> PersonFile:
    return PersonFile(f"{STATE}/{kind}/{ANN}/{name}", state, text)


def photo(name: str = "photo.jpg") -> AttachmentInfo:
    return AttachmentInfo(AttachmentRef("x-1"), name, "image/jpeg", 2048, "0" * 64, f"{STATE}/attachments/x-1")


HITS = (
    Hit("m-7f2", 2, "preference", "Ann", datetime(2026, 9, 14, tzinfo=UTC), "Explain the reasoning before the result."),
    Hit("m-1c9", 1, "fact", "Ann", datetime(2026, 10, 2, tzinfo=UTC), 'The controller is at the address "greenhouse".'),
)
MEMORY_TOOLS = tuple(
    ToolNotice(name, "", "memory") for name in ("memory_search", "memory_save", "memory_correct", "memory_forget")
)
TOOLS = (
    ToolNotice("history_search", "find earlier messages", "history"),
    ToolNotice("schedule", "add a job", "scheduling"),
    ToolNotice("jobs", "list and change jobs", "scheduling"),
    ToolNotice("services", "weather (read)", "services"),
)
HOUSE = AgentDefinition(
    "house",
    "keep the house's small machines running.",
    "Begin with the answer. You are talking with ${user_name}.",
    ("files", "commands"),
    (Skill("pump-check", "how to test the pumps safely"),),
    revision="r1",
)
TALK = (
    message(4, "Does the pump schedule survive a power cut?"),
    message(
        5,
        "Yes: the schedule is stored in flash.\n\n    save(FLASH)",
        Author.AGENT,
        tool_lines=("read schedule.c", "ran the tests: passed"),
    ),
    message(6, "The agent was restarted.", Author.KAI),
    message(7, "", attachments=(photo(),)),
)


def facts(**changes: Any) -> Facts:
    """The first message of a fresh session at home, in private, memory disabled, files inline; then the changes."""
    made = Facts(
        turn=TurnId("t-1"),
        channel=GARDEN,
        kind=ChannelKind.PRIVATE,
        speaker=Speaker(ANN, "Ann", "ann@example.org", "Europe/Berlin"),
        words="And after I change the clock?",
        fresh=True,
        home=True,
        workspace=f"{STATE}/homes/{ANN}",
        memory=MemoryMode.DISABLED,
        agent=HOUSE,
        history=HistoryFacts(TALK, total=340),
        budget=Budget(524_288),
        now=NOW,
        zone="Europe/Berlin",
        fence_seed="seed-of-this-turn",
        preferences=person_file("preferences", "PREFERENCES.md", "# Preferences\n\n- Short first.\n"),
        memory_file=person_file("memory", "MEMORY.md", "- 2026-10-02: the greenhouse has two pumps.\n"),
        tools=TOOLS,
    )
    return replace(made, **changes)


def enabled(**changes: Any) -> Facts:
    """With semantic memory, and two of five records found."""
    found = Retrieval(RetrievalStatus.OK, HITS, eligible=5)
    given = {"memory": MemoryMode.ENABLED, "memory_file": None, "retrieval": found, "tools": MEMORY_TOOLS + TOOLS}
    return facts(**{**given, **changes})


def foreign(made: Facts, state: FileState = FileState.PRESENT) -> Facts:
    """The same in a folder that is not the person's home."""
    identity = PersonFile(f"{STATE}/homes/{ANN}/AGENTS.md", state, "# Who you are\n\nYou look after the garden.\n")
    if state is not FileState.PRESENT:
        identity = replace(identity, text="")
    return replace(
        made,
        home=False,
        workspace="/srv/projects/garden",
        identity=identity,
        workspace_instructions="Build with `make`. Never flash a controller without asking.",
    )
