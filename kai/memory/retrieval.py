"""The seam between remembering and the block: who asks, what they said, what is eligible."""

from dataclasses import dataclass
from typing import Protocol

from kai.model.context import Retrieval, RetrievalStatus
from kai.model.ids import ChannelId, PrincipalId


@dataclass(frozen=True, slots=True)
class Scope:
    """For whom and where. There is no scope without a person: a search for nobody would search everyone."""

    principal: PrincipalId
    channel: ChannelId
    agent: str


class Retriever(Protocol):
    """Finds what fits the person's own words. A failure is a status, never an exception and never invented hits."""

    async def retrieve(self, scope: Scope, query: str) -> Retrieval: ...


class DisabledRetriever:
    """There is no semantic memory: every search ends as ``disabled``."""

    async def retrieve(self, scope: Scope, query: str) -> Retrieval:
        return Retrieval(RetrievalStatus.DISABLED)
