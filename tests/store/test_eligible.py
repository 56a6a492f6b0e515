"""Who may see what: said once, held on every path, and nothing that is untagged, joined late or somebody else's."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kai.model.errors import DeniedError
from kai.model.ids import ChannelId, PrincipalId
from kai.model.memory import Way
from kai.model.people import Person
from kai.store import channels, eligible, grants, people, shelves
from tests.store.house import ANN, BOB, START, House
from tests.store.remembered import POLICY, Memory

CAT = PrincipalId("p-cat")


@pytest.fixture
def memory(house: House) -> Memory:
    people.add(house.db, Person(CAT, "Cat", "cat"), START)
    return Memory(house)


def test_a_persons_own_is_seen_in_private_and_by_nobody_else(memory: Memory) -> None:
    memory.kept("Ann is allergic to nuts")
    assert memory.found("nuts") == ["Ann is allergic to nuts"]
    assert memory.found("nuts", memory.scope(BOB)) == []
    assert memory.found("nuts", memory.scope(channel=memory.room())) == []  # nor where she herself asks with others


def test_whoever_is_not_there_reads_nothing_there(memory: Memory) -> None:
    room = memory.room(ANN, CAT)
    with pytest.raises(DeniedError, match="not_a_member"):
        memory.found("x", memory.scope(BOB, room))


def test_a_channels_record_is_for_those_who_were_there_joining_is_silence_and_leaving_gives_it_back(
    memory: Memory,
) -> None:
    room = memory.room()
    here = memory.scope(channel=room)
    memory.kept("the bins go out on Monday", here)
    assert memory.found("bins", memory.scope(BOB, room)) == ["the bins go out on Monday"]
    channels.join(memory.db, room, CAT, memory.house.now)
    assert memory.found("bins", here) == []
    channels.leave(memory.db, room, CAT, memory.house.now)
    assert memory.found("bins", here) == ["the bins go out on Monday"]
    channels.leave(memory.db, room, BOB, memory.house.now)
    assert memory.found("bins", here) == ["the bins go out on Monday"]  # somebody leaving is fine


def test_untagged_rows_are_nobodys(memory: Memory) -> None:
    record = memory.kept("the pump is old")
    memory.db.execute("UPDATE mem_record SET audience = NULL WHERE record = ?", (record,))
    assert memory.found("pump") == []


def test_a_stale_index_costs_a_hit_and_shows_nothing_old(memory: Memory) -> None:
    record = memory.kept("short answers")
    memory.db.execute(
        "INSERT INTO mem_revision SELECT record, 2, 'explain evidence', digest, origin, said_by, said_at, message, "
        "op, 1, valid_from, NULL, NULL FROM mem_revision WHERE record = ?",
        (record,),
    )
    memory.db.execute("UPDATE mem_record SET revision = 2 WHERE record = ?", (record,))
    assert memory.found("short answers") == ["explain evidence"]  # found by the old words, read as it stands
    memory.db.execute("UPDATE mem_record SET audience = '[\"p-bob\"]' WHERE record = ?", (record,))
    assert memory.found("short answers") == []  # the newest may not be seen here: the older one is withheld too


def test_what_an_operator_keeps_for_all_is_seen_by_all(memory: Memory) -> None:
    memory.kept("the house has two doors", memory.scope(way=Way.ADMIN), namespace="global/house")
    assert memory.found("doors", memory.scope(BOB)) == ["the house has two doors"]
    assert memory.found("doors", memory.scope(channel=memory.room())) == ["the house has two doors"]
    assert memory.save("mine", namespace="global/house").reason == "not_granted"


def test_a_policy_reads_its_own_namespaces_and_those_of_its_own_definition_when_it_asks_for_that(
    memory: Memory,
) -> None:
    memory.kept("how to bleed the pump", kind="howto")
    memory.kept("the pump is loud", memory.scope(agent="cook"))
    assert memory.found("pump", patterns=("person/self/howto",)) == ["how to bleed the pump"]
    assert memory.found("pump", patterns=()) == []
    here = eligible.place(memory.db, memory.scope(agent="cook"), POLICY.tool, own_only=True)
    seqs = [row[0] for row in memory.db.execute("SELECT seq FROM mem_record")]
    assert [one.text for one in eligible.current(memory.db, here, seqs, memory.house.now).values()] == [
        "the pump is loud"
    ]


@pytest.mark.parametrize(
    "pattern", ["person/*/memory", "person/p-bob/*", "*/*/*", "channel/*/memory", "person/self/*/x", "global/*/x", "*"]
)
def test_no_pattern_widens_to_others(memory: Memory, pattern: str) -> None:
    memory.kept("the secret of Bob", memory.scope(BOB))
    memory.kept("of another room", memory.scope(BOB, memory.room(BOB, CAT)))
    memory.kept("own")
    assert memory.found("secret another room own", patterns=(pattern,)) == []


def test_pinned_preferences_stand_in_private_only_the_newest_first(memory: Memory) -> None:
    for text in ("one", "two", "three", "four"):
        memory.kept(text, kind="preference")
    here = eligible.place(memory.db, memory.scope(), POLICY.inject)
    assert [one.text for one in eligible.pinned(memory.db, here, memory.house.now, 3)] == ["four", "three", "two"]
    there = eligible.place(memory.db, memory.scope(channel=memory.room()), POLICY.inject)
    assert eligible.pinned(memory.db, there, memory.house.now, 3) == ()


EVERYBODY = (ANN, BOB, CAT)


@dataclass
class Told:
    """What an oracle knows: of each text its owner, its place and who was there; what was granted where."""

    memory: Memory
    rooms: list[ChannelId]
    kept: dict[str, tuple[str, str, frozenset[str]]] = field(default_factory=dict)
    granted: set[tuple[str, str]] = field(default_factory=set)

    def step(self, deed: str, who: PrincipalId, room: ChannelId, pick: int) -> None:
        memory, text = self.memory, f"word {len(self.kept)}"
        members = channels.get(memory.db, room).members
        mine = [text for text, one in self.kept.items() if one[1] == who]
        if deed == "own":
            memory.kept(text, memory.scope(who))
            self.kept[text] = (who, who, frozenset({who}))
        elif deed == "room" and who in members:
            memory.kept(text, memory.scope(who, room))
            self.kept[text] = (who, room, frozenset(members))
        elif deed == "join":
            channels.join(memory.db, room, who, memory.house.now)
        elif deed == "leave" and len(members) > 2:
            channels.leave(memory.db, room, who, memory.house.now)
        elif deed == "grant" and who in members and mine:
            chosen = mine[pick % len(mine)]
            query = "SELECT record FROM mem_revision WHERE content = ?"
            record = memory.db.execute(query, (chosen,)).fetchone()[0]
            grants.grant(memory.db, memory.scope(who), record, room, None, memory.op, memory.house.now)
            self.granted.add((chosen, room))

    def allowed(self, who: PrincipalId, place: ChannelId) -> set[str]:
        members = set(channels.get(self.memory.db, place).members)
        return {
            text
            for text, (owner, home, audience) in self.kept.items()
            if (len(members) == 1 and home == owner == who)
            or (home == place and members <= audience)
            or (text, place) in self.granted
        }


STEP = st.tuples(
    st.sampled_from(["own", "room", "join", "leave", "grant"]), st.sampled_from(EVERYBODY), st.integers(0, 9)
)


def test_nothing_is_ever_shown_to_somebody_who_was_not_there(memory: Memory) -> None:
    """Random joins, leaves, records, grants; every search is compared with what an oracle allows."""
    db = memory.db
    rooms = [memory.room(ANN, BOB), memory.room(*EVERYBODY)]
    for place in (*(f"person/{who}" for who in EVERYBODY), *(f"channel/{room}" for room in rooms)):
        shelves._made(db, place)  # what a savepoint made and undid would spoil the transaction

    @settings(max_examples=50, deadline=None)
    @given(st.lists(STEP, min_size=3, max_size=12))
    def holds(steps: list[tuple[str, PrincipalId, int]]) -> None:
        db.execute("SAVEPOINT example")
        told = Told(memory, rooms)
        for deed, who, pick in steps:
            told.step(deed, who, told.rooms[pick % 2], pick)
        for who in EVERYBODY:
            for place in (channels.private_of(db, who, memory.house.now).channel, *told.rooms):
                if who in channels.get(db, place).members:
                    assert set(memory.found("word", memory.scope(who, place))) == told.allowed(who, place)
        db.execute("ROLLBACK TO example")

    holds()


def test_a_grant_for_a_time_ends_by_itself(memory: Memory) -> None:
    record, room = memory.kept("the door code is under the mat"), memory.room()
    until = memory.house.now + timedelta(minutes=30)
    assert grants.grant(memory.db, memory.scope(), record, room, until, memory.op, memory.house.now).is_done
    assert memory.found("mat", memory.scope(BOB, room))
    memory.house.minutes += 60
    assert memory.found("mat", memory.scope(BOB, room)) == []
