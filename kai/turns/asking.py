"""Permission questions: a row and a delivery for the person, a limit for the agent, an answer that passes the lane."""

from datetime import timedelta
from typing import TYPE_CHECKING

import anyio

from kai.log import log
from kai.model.errors import DeniedError, WrongMoveError
from kai.model.events import Ask, AskWithdrawn, Choice, ChoiceKind
from kai.model.ids import AskId, PrincipalId
from kai.model.states import AskState, TurnState
from kai.model.turns import DeliveryKind, NewDelivery, Question
from kai.store import deliveries, questions, turns
from kai.store.binding import Connection
from kai.turns.control import chosen, narrowest, question_text
from kai.turns.parts import Parts

if TYPE_CHECKING:
    from kai.turns.runner import Running


class Asking:
    """The questions of the turns that run here. The store knows which are open; nothing here has to remember."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def ask(self, running: "Running", event: Ask) -> None:
        """Put the agent's question to the person, or allow it once where the operator chose to bypass questions."""
        assert running.route is not None
        assert running.held is not None
        assert running.tasks is not None
        assert running.dispatch is not None
        if running.route.permissions == "bypass" and not event.free_text:
            choice = narrowest(event.choices, ChoiceKind.ALLOW_ONCE, ChoiceKind.ALLOW_ALWAYS)
            if choice is not None:
                await running.held.session.answer(event.ask, choice)
                return
        limit_s = self._parts.config.settings.limits.over(running.route.manifest.limits).ask_s
        now = self._parts.clock.now()
        question = await self._parts.store.write(
            questions.ask,
            running.turn.turn,
            running.dispatch,
            event,
            running.turn.address,
            now + timedelta(seconds=limit_s),
            now,
            text=question_text(event.title, event.detail, event.choices),
        )
        running.live.become(TurnState.ASKING)
        running.live.add(
            "ask",
            ask=question.ask,
            title=event.title,
            detail=event.detail,
            choices=[{"key": c.key, "label": c.label, "kind": c.kind.value} for c in event.choices],
            free_text=event.free_text,
            expires_at=question.expires_at.isoformat(),
        )
        self._parts.live.bell(running.live.bridge).owe()
        running.tasks.start_soon(self._expire, running, question, limit_s)

    async def _expire(self, running: "Running", question: Question, limit_s: float) -> None:
        await anyio.sleep(limit_s)
        minutes = max(1, round(limit_s / 60))
        told = NewDelivery(
            running.turn.address,
            DeliveryKind.NOTICE,
            f"Nobody answered “{question.title}” within {minutes} min: it was denied.",
            turn=running.turn.turn,
        )
        try:
            await self._parts.store.write(self._close_and_tell, question.ask, AskState.EXPIRED, told)
        except WrongMoveError:
            return  # answered at the last moment
        log.info("question.expired", ask=question.ask, turn=question.turn)
        await self._go_on(running, question, None, "")

    def _close_and_tell(self, db: Connection, ask: AskId, state: AskState, told: NewDelivery) -> None:
        now = self._parts.clock.now()
        questions.close(db, ask, state, now)
        deliveries.owe(db, told, now)

    async def withdraw(self, running: "Running", event: AskWithdrawn) -> None:
        """The agent no longer waits: the question closes as cancelled."""
        for question in await self._parts.store.read(questions.open_of, running.turn.turn):
            if question.key == event.ask:
                await self._parts.store.write(
                    questions.close, question.ask, AskState.CANCELLED, self._parts.clock.now()
                )
        await self._resume(running)

    async def answer(
        self, question: Question, by: PrincipalId, word: str, text: str, running: "Running | None"
    ) -> Question:
        """Take a person's answer: `word` names a choice. Raises `DeniedError` for anybody but the turn's person.

        Raises `WrongMoveError` when the question is no longer open: late is told, never taken for something else.
        """
        turn = await self._parts.store.read(turns.get, question.turn)
        if turn.principal != by:
            raise DeniedError("only the person whose turn asks may answer")
        choice = chosen(word, question.choices) if word else None
        key = choice.key if choice else "" if question.free_text else word
        answered = await self._parts.store.write(questions.answer, question.ask, key, by, self._parts.clock.now())
        log.info("question.answered", ask=question.ask, turn=question.turn, kind=choice.kind if choice else "text")
        if running is not None:
            await self._go_on(running, question, choice, text)
        return answered

    async def _go_on(self, running: "Running", question: Question, choice: Choice | None, text: str) -> None:
        if running.held is not None:
            await running.held.session.answer(question.key, choice, text)
        await self._resume(running)

    async def _resume(self, running: "Running") -> None:
        turn = await self._parts.store.read(turns.get, running.turn.turn)
        if turn.state is TurnState.RUNNING:
            running.live.become(TurnState.RUNNING)
        self._parts.live.bell(running.live.bridge).owe()
