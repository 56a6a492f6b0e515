"""Reading the facts of a dispatch: only what the block may show, within limits, and no failure but the store's."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from kai.context import gather as gathering
from kai.context.assemble import assemble
from kai.context.gather import Asked, Rules, Seated, Sources, gather, gather_at_once
from kai.memory.retrieval import DisabledRetriever
from kai.model.agents import AgentDefinition, Policy
from kai.model.context import (
    Facts,
    FileState,
    HistoryBounds,
    Hit,
    MemoryMode,
    PersonFile,
    Retrieval,
    RetrievalStatus,
)
from kai.model.errors import StoreError
from kai.model.ids import MessageId, PrincipalId, SessionId, TurnId, fresh
from kai.model.memory import Scope, Way
from kai.model.messages import Author, Message
from kai.model.people import Channel, ChannelKind, Person
from kai.people.files import read
from kai.people.folders import PersonFolders
from kai.store import channels, messages, people
from kai.store.binding import Connection
from kai.store.database import Store, open_store
from tests.manual_clock import ManualClock

pytestmark = pytest.mark.anyio

ANN = Person(PrincipalId("p-ann"), "Ann", "ann", zone="Europe/Berlin", email="ann@example.org", legacy_chat_id="4711")
BOB = Person(PrincipalId("p-bob"), "Bob", "bob")
NOW = datetime(2026, 11, 30, 17, 41, tzinfo=UTC)
HOUSE = AgentDefinition("house", "help", "")


@dataclass
class Found:
    """A retriever that answers what it is told, and keeps what it was asked."""

    answer: Retrieval | StoreError | None
    asked: list[tuple[Scope, str]] = field(default_factory=list)

    async def retrieve(
        self,
        scope: Scope,
        query: str,
        policy: Policy | None = None,
        session: SessionId | None = None,
        *,
        repeats: bool = False,
    ) -> Retrieval:
        self.asked.append((scope, query))
        if isinstance(self.answer, StoreError):
            raise self.answer
        if self.answer is None:
            await anyio.sleep_forever()
        assert self.answer is not None
        return self.answer

    def at_once(
        self, db: Connection, scope: Scope, query: str, policy: Policy, session: SessionId | None
    ) -> Retrieval | None:
        raise NotImplementedError


@dataclass
class House:
    """A state folder with a database, two persons and their channels."""

    store: Store
    folders: PersonFolders
    private: Channel
    shared: Channel

    async def facts(
        self, asked: dict[str, Any] | None = None, seated: dict[str, Any] | None = None, **rules: Any
    ) -> Facts:
        retriever = rules.pop("retriever", DisabledRetriever())
        as_owner = rules.pop("as_owner", None)
        home = self.folders.home(ANN.principal)
        message = Asked(TurnId("t-1"), self.private, ANN, "And the clock?")
        seat = Seated(fresh=True, workspace=home, home=home, agent=HOUSE, owner_uid=os.geteuid())
        return await gather(
            Sources(self.store, self.folders, retriever, as_owner),
            replace(message, **asked or {}),
            replace(seat, **seated or {}),
            Rules(**rules),
            now=NOW,
        )

    async def say(self, channel: Channel, text: str, author: Author = Author.PERSON) -> Message:
        said = Message(MessageId(fresh("m")), channel.channel, 0, author, ANN.principal, "Ann", text, NOW)
        return await self.store.write(messages.keep, said)


@pytest.fixture
async def house(tmp_path: Path, clock: ManualClock) -> AsyncIterator[House]:
    async with open_store(tmp_path / "kai.db", clock=clock) as store:
        for person in (ANN, BOB):
            await store.write(people.add, person, NOW)
        private = await store.write(channels.private_of, ANN.principal, NOW)
        members = (ANN.principal, BOB.principal)
        shared = await store.write(channels.create, ChannelKind.SHARED, "family", None, members, NOW)
        folders = PersonFolders(tmp_path)
        await anyio.to_thread.run_sync(folders.seed, ANN.principal)
        yield House(store, folders, private, shared)


async def test_a_first_message_brings_its_files_and_the_history_before_it(house: House) -> None:
    for text in ("one", "two", "three"):
        last = await house.say(house.private, text)
    facts = await house.facts({"number": last.number}, bounds=HistoryBounds(messages=1))
    assert [message.text for message in facts.history.messages] == ["two"]
    assert facts.history.total == 2
    assert facts.preferences is not None
    assert facts.preferences.state is FileState.PRESENT
    assert facts.memory_file is not None
    assert facts.identity is None, "at home the CLI finds it by itself"
    assert facts.now.utcoffset() != NOW.utcoffset(), "the clock is the person's"
    assert "18:41 Europe/Berlin" in assemble(facts).text


async def test_a_preview_takes_all_there_is_for_the_past(house: House) -> None:
    await house.say(house.private, "one")
    await house.say(house.private, "two")
    facts = await house.facts()
    assert [message.text for message in facts.history.messages] == ["one", "two"]
    assert facts.history.total == 2


async def test_history_is_of_this_channel_only(house: House) -> None:
    await house.say(house.private, "in private")
    facts = await house.facts({"channel": house.shared})
    assert facts.history.messages == ()


async def test_a_live_session_reads_neither_files_nor_history(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing is to be read")

    await house.facts()  # the zone is known from here on
    monkeypatch.setattr(gathering, "read", refuse)
    monkeypatch.setattr(Store, "read", refuse)
    facts = await house.facts(seated={"fresh": False})
    assert facts.preferences is None
    assert facts.history.messages == ()


@pytest.mark.parametrize("case", ["shared", "temporary", "private"])
async def test_what_is_kept_out_is_not_opened_either(house: House, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """The private case is the control: there the files are opened."""
    opened: list[str] = []

    def noting(path: Path, **how: Any) -> PersonFile:
        opened.append(path.name)
        return read(path, **how)

    monkeypatch.setattr(gathering, "read", noting)
    found = Found(Retrieval(RetrievalStatus.OK))
    asked = {"channel": house.shared} if case == "shared" else {}
    mode = MemoryMode.TEMPORARY if case == "temporary" else MemoryMode.DISABLED
    await house.facts(asked, memory=mode, retriever=found)
    assert opened == (["PREFERENCES.md", "MEMORY.md"] if case == "private" else [])
    assert found.asked == []


async def test_a_foreign_workspace_brings_the_identity_from_home(house: House, tmp_path: Path) -> None:
    facts = await house.facts(seated={"workspace": tmp_path / "garden"})
    assert facts.identity is not None
    assert facts.identity.text.startswith("# Who you are")
    assert not facts.home


async def test_a_run_that_speaks_for_nobody_reads_the_shared_memory_file_and_no_preferences(house: House) -> None:
    await anyio.Path(house.folders.shared_memory()).write_text("the house has two doors")
    facts = await house.facts({"person": None})
    assert facts.preferences is None
    assert facts.memory_file is not None
    assert facts.memory_file.text == "the house has two doors"


async def test_without_an_identity_nothing_is_searched(house: House) -> None:
    found = Found(Retrieval(RetrievalStatus.OK))
    facts = await house.facts({"person": None}, memory=MemoryMode.ENABLED, retriever=found)
    assert (facts.retrieval.status, facts.retrieval.reason) == (RetrievalStatus.DENIED, "no_identity")
    assert found.asked == []


async def test_a_shared_channel_searches_no_memory_of_persons(house: House) -> None:
    found = Found(Retrieval(RetrievalStatus.OK))
    facts = await house.facts({"channel": house.shared}, memory=MemoryMode.ENABLED, retriever=found)
    assert (facts.retrieval.status, facts.retrieval.reason) == (RetrievalStatus.DENIED, "shared_channel")
    assert found.asked == []


async def test_the_search_is_for_the_persons_own_words_and_for_no_words_there_is_none(house: House) -> None:
    hit = Hit("m-1", 1, "fact", "Ann", NOW, "two pumps")
    found = Found(Retrieval(RetrievalStatus.OK, (hit,), 1))
    facts = await house.facts({"words": "  pumps? @x"}, memory=MemoryMode.ENABLED, retriever=found)
    assert facts.retrieval.hits == (hit,)
    scope = Scope(ANN.principal, house.private.channel, "house", Way.AUTO, turn=TurnId("t-1"))
    assert found.asked == [(scope, "  pumps? @x")]
    await house.facts({"words": " \n"}, memory=MemoryMode.ENABLED, retriever=found)
    assert len(found.asked) == 1


@pytest.mark.parametrize("answer", [None, StoreError("mem.db", "broken"), Retrieval(RetrievalStatus.UNAVAILABLE)])
async def test_a_search_that_fails_or_hangs_is_a_fault_that_is_said_and_the_turn_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch, answer: Retrieval | StoreError | None
) -> None:
    monkeypatch.setattr(gathering, "RETRIEVAL_S", 0.05)
    facts = await house.facts(memory=MemoryMode.ENABLED, retriever=Found(answer))
    assert facts.memory is MemoryMode.FAULT
    assert facts.retrieval.status is RetrievalStatus.UNAVAILABLE
    text = assemble(facts).text
    assert text.count("Do not conclude that nothing is remembered.") == 2
    assert "empty" not in text


async def test_deferred_files_are_named_and_not_looked_at(house: House, tmp_path: Path) -> None:
    facts = await house.facts(seated={"workspace": tmp_path / "garden"}, files="deferred")
    for file in (facts.identity, facts.preferences, facts.memory_file):
        assert file is not None
        assert file.state is FileState.DEFERRED
    assert f"(file: {house.folders.preferences(ANN.principal)})" in assemble(facts).text


@dataclass
class Owner:
    """A reader that runs as the owner: it says what it was asked for."""

    asked: list[tuple[str, int]] = field(default_factory=list)

    async def read(self, path: Path, *, root: Path, owner_uid: int) -> PersonFile:
        assert path.is_relative_to(root)
        self.asked.append((path.name, owner_uid))
        return PersonFile(str(path), FileState.PRESENT, "read as its owner")


async def test_files_of_another_user_are_read_as_their_owner(house: House) -> None:
    reader, uid = Owner(), os.geteuid() + 1
    facts = await house.facts(seated={"owner_uid": uid}, files="as_owner", as_owner=reader)
    assert reader.asked == [("PREFERENCES.md", uid), ("MEMORY.md", uid)]
    assert facts.preferences is not None
    assert facts.preferences.text == "read as its owner"


async def test_without_a_reader_they_are_unreadable_and_ones_own_are_read_as_ever(house: House) -> None:
    facts = await house.facts(seated={"owner_uid": os.geteuid() + 1}, files="as_owner")
    assert facts.preferences is not None
    assert facts.preferences.state is FileState.UNREADABLE
    own = await house.facts(files="as_owner")
    assert own.preferences is not None
    assert own.preferences.state is FileState.PRESENT


async def test_a_file_that_never_answers_is_given_up(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass
    class Stuck:
        async def read(self, path: Path, *, root: Path, owner_uid: int) -> PersonFile:
            await anyio.sleep_forever()
            raise AssertionError(path, root, owner_uid)

    monkeypatch.setattr(gathering, "FILES_S", 0.05)
    facts = await house.facts(seated={"owner_uid": os.geteuid() + 1}, files="as_owner", as_owner=Stuck())
    assert facts.preferences is not None
    assert facts.preferences.state is FileState.UNREADABLE
    assert facts.preferences.problem == "no answer within 0.05 seconds"


async def test_the_legacy_folder_is_used_while_there_is_no_other(house: House) -> None:
    legacy = house.folders.root / "preferences" / "4711"
    await anyio.Path(house.folders.preferences(ANN.principal)).unlink()
    await anyio.Path(house.folders.root / "preferences" / ANN.principal).rename(legacy)
    await anyio.Path(legacy / "PREFERENCES.md").write_text("from before")
    facts = await house.facts()
    assert facts.preferences == PersonFile(str(legacy / "PREFERENCES.md"), FileState.PRESENT, "from before")


async def test_a_prompt_file_inside_a_home_is_a_person_file_too(house: House) -> None:
    path = house.folders.home(ANN.principal) / "PROMPT.md"
    await anyio.Path(path).symlink_to("/etc/passwd")
    facts = await house.facts(seated={"workspace_file": path})
    assert facts.workspace_file is not None
    assert facts.workspace_file.state is FileState.UNSAFE


async def test_what_the_message_replies_to_is_quoted_if_it_is_of_this_channel(house: House) -> None:
    here, there = await house.say(house.private, "in private"), await house.say(house.shared, "in the family")
    live = {"fresh": False}
    assert (await house.facts({"reply_to": here.message}, live)).reply_quote == "in private"
    assert (await house.facts({"reply_to": there.message}, live)).reply_quote == ""
    assert (await house.facts({"reply_to": MessageId("m-gone")}, live)).reply_quote == ""


async def test_a_route_without_a_channel_of_its_own_takes_its_past_from_the_archive(house: House) -> None:
    folder = house.folders.archive(house.private.channel)
    await anyio.Path(folder).mkdir(parents=True)
    line = '{"ts": "2026-02-11T07:00:00+00:00", "dir": "user", "text": "from the old days"}'
    await anyio.Path(folder / "2026-02-11.jsonl").write_text(line)
    facts = await house.facts({"canonical": False})
    assert [message.text for message in facts.history.messages] == ["from the old days"]
    assert str(folder) in assemble(facts).text
    later = await house.facts({"canonical": False}, {"fresh": False})
    assert later.history.messages == ()


async def test_a_native_command_and_steered_text_read_nothing_for_a_session(house: House) -> None:
    await house.say(house.private, "one")
    for how in ("native_command", "steered"):
        facts = await house.facts({how: True})
        assert not facts.fresh
        assert facts.history.messages == ()
        assert facts.preferences is None


async def test_an_unknown_zone_is_shown_as_utc_and_stops_nothing(house: House) -> None:
    facts = await house.facts({"person": replace(ANN, zone="Mars/Olympus")})
    assert "17:41 UTC" in assemble(facts).text


async def test_the_fences_of_two_turns_have_nothing_in_common(house: House) -> None:
    assert (await house.facts()).fence_seed != (await house.facts()).fence_seed


async def test_a_plain_message_for_a_live_session_needs_no_wait_and_anything_more_does(house: House) -> None:
    home = house.folders.home(ANN.principal)
    message = Asked(TurnId("t-1"), house.private, ANN, "And the clock?")
    seat = Seated(fresh=False, workspace=home, home=home, agent=HOUSE)
    sources, rules = Sources(house.store, house.folders, DisabledRetriever()), Rules(memory=MemoryMode.ENABLED)

    async def at_once(message: Asked = message, seat: Seated = seat) -> Facts | None:
        work = partial(gather_at_once, sources=sources, asked=message, seated=seat, rules=rules, now=NOW)
        return await house.store.read(work)

    assert await at_once() is None, "its time zone was not loaded yet"
    slowly = await gather(sources, message, seat, rules, now=NOW, fence_seed="f")
    found = await at_once()
    assert found is not None
    assert replace(found, fence_seed="f") == slowly
    assert await at_once(replace(message, reply_to=MessageId("m-1"))) is None
    assert await at_once(seat=replace(seat, fresh=True)) is None
