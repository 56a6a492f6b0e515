"""What a turn costs does not grow with what was said and done before: counted in steps of SQLite, not in seconds."""

from kai.model.turns import Receipt, ReceiptOutcome
from kai.store import channels, deliveries, messages, questions, search, turns
from tests.store.house import ANN, House

LONG = 400


def a_turn(house: House) -> None:
    """All that the store is asked from a message to its receipt."""
    channels.get(house.db, house.main.channel)
    questions.open_in_channel(house.db, house.main.channel)
    turn = house.queued("where did we put the kettle, again?")
    assert turns.next_queued(house.db, house.main.channel) is not None
    messages.recent(house.db, house.main.channel, 2**62, 20)
    house.finish(turn, house.sent(turn))
    (owed,) = deliveries.claim(house.db, house.door.bridge, house.now, 50)
    deliveries.receipt(house.db, owed.delivery, house.door.bridge, Receipt(ReceiptOutcome.SENT), house.now)
    turns.listing(house.db, principal=ANN, limit=5)
    assert deliveries.owed(house.db, house.door.bridge)["pending"] == 0


def steps(house: House) -> int:
    """The steps of the cheapest of a few turns: now and then one tidies up the search index for others."""
    counts = []
    for _ in range(8):
        counted = [0]

        def step(counted: list[int] = counted) -> None:
            counted[0] += 1

        house.db.set_progress_handler(step, 1)
        a_turn(house)
        house.db.set_progress_handler(None, 0)
        counts.append(counted[0])
    return min(counts)


def test_a_turn_costs_the_same_in_a_channel_with_a_long_past(house: House) -> None:
    for _ in range(20):
        a_turn(house)
    before = steps(house)
    for _ in range(LONG):
        a_turn(house)
    assert steps(house) < 1.2 * before
    assert search.search(house.db, house.main.channel, "kettle", 3)
