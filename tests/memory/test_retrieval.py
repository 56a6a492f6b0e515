"""The seam of memory, while there is none behind it."""

import pytest

from kai.memory.retrieval import DisabledRetriever, Retriever, Scope
from kai.model.context import Retrieval, RetrievalStatus
from kai.model.ids import ChannelId, PrincipalId

pytestmark = pytest.mark.anyio


async def test_without_memory_every_search_ends_as_disabled_and_finds_nothing() -> None:
    retriever: Retriever = DisabledRetriever()
    found = await retriever.retrieve(Scope(PrincipalId("p"), ChannelId("c"), "house"), "anything")
    assert found == Retrieval(RetrievalStatus.DISABLED)
    assert found.hits == ()
