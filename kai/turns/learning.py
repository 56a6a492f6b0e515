"""What memory makes of a turn that ended well, where its agent definition asks for it, and the lines below the answer.

Learned are statements of the person's own message alone; the words of an agent become an episode at most, said to be
the agent's, and never a fact. Nothing is learned in temporary talk or where others are present.
"""

from collections.abc import Iterator

from kai.log import log
from kai.memory.learning import statements
from kai.model.errors import KaiError
from kai.model.memory import Deed, Kind, MemoryReceipt, NewRecord, Origin, Scope, Way
from kai.model.messages import Author, Message
from kai.model.states import TurnState
from kai.model.turns import Outcome, Turn
from kai.store import messages, records
from kai.store.records import TakenIn
from kai.turns.facts import is_native
from kai.turns.parts import Parts
from kai.turns.remembering import Remembering, footer
from kai.turns.route import Route

RUN_CHARS = 80  # a shorter request is no episode
_RUN_BYTES = records.CONTENT_BYTES - 200
Learned = tuple[str, NewRecord, TakenIn]


async def below(parts: Parts, turn: Turn, route: Route | None, outcome: Outcome) -> str:
    """Learns what there is to learn; gives the lines below the answer, made from receipts alone."""
    texts: dict[str, str] = {}
    if route is not None and outcome.state is TurnState.DONE and _may_learn(parts, route):
        try:
            texts = await _learn(parts, turn, route, outcome)
        except KaiError as error:  # the answer does not depend on it
            log.warning("memory.not_learned", turn=turn.turn, problem=error.sentence)
    return footer(parts.delegating.receipts_of(parts, turn.turn), texts)


def _may_learn(parts: Parts, route: Route) -> bool:
    policy, is_on = route.agent.memory, parts.config.settings.memory.enabled
    asks = policy.learn != "off" or policy.save_runs
    return asks and is_on and not route.temporary and not route.is_shared


async def _learn(parts: Parts, turn: Turn, route: Route, outcome: Outcome) -> dict[str, str]:
    said = await parts.store.read(messages.get, turn.message)
    if is_native(route, said.text):
        return {}
    scope = Scope(turn.principal, turn.channel, route.agent.name, Way.JOB, f"turn:{turn.turn}", turn.turn, said.message)
    remembering, texts = Remembering(parts), dict[str, str]()
    for number, (operation, new, taken) in enumerate(_learned(route, said, outcome)):
        op = f"{operation}:{turn.turn}:{number}"

        def work(*asked: object, operation: str = operation) -> MemoryReceipt:
            return records.take_in(*asked, operation=operation)  # type: ignore[arg-type]

        receipt = await remembering.operate(operation, work, scope, new, taken, op=op)
        texts[receipt.record] = new.text
        if receipt.outcome is not Deed.COMMITTED and receipt.reason != "store":  # nobody asked for it
            parts.receipts[turn.turn].remove(receipt)
    return texts


def _learned(route: Route, said: Message, outcome: Outcome) -> Iterator[Learned]:
    """What is to be kept: (operation, record, what is known of it)."""
    policy, is_own = route.agent.memory, said.author is Author.PERSON and route.delegated is None
    if policy.learn != "off" and is_own:
        taken = TakenIn(origin=Origin.LEARNED, waits=policy.learn == "observe")
        for kind, text in statements(said.text):
            yield "learn", NewRecord(text, kind, pinned=False), taken
    if policy.save_runs and len(said.text) >= RUN_CHARS and outcome.text.strip():
        agent = f"kai ({route.agent.name}, via {route.manifest.id})"
        for name, text, by in (("run_input", said.text, said.name), ("run_output", outcome.text, agent)):
            kept = text if len(text.encode()) <= _RUN_BYTES else _start_of(text)
            new = NewRecord(kept, Kind.EPISODE, family=f"{name}:{said.message}", pinned=False)
            yield "keep_run", new, TakenIn(origin=Origin.AUTO_RUN, said_by=by)


def _start_of(text: str) -> str:
    start = text.encode()[:_RUN_BYTES].decode(errors="ignore")
    return f"{start}… (the first part of {len(text):,} characters; history_search finds the rest)"
