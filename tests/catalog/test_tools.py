"""One row of the table is enough for the block."""

from kai.catalog.tools import TOOLS, Tool, notices
from kai.model.context import ToolNotice

SEARCH = Tool(
    "history_search",
    "history",
    "find earlier messages of this conversation",
    "/v1/history/search",
)
NOW = Tool("clock", "other", "the time", "/v1/clock", "GET")


def test_no_tool_is_offered_before_it_is_built() -> None:
    assert TOOLS == ()
    assert notices() == ()


def test_the_block_tells_of_the_allowed_tools_in_the_order_of_the_table() -> None:
    assert notices((SEARCH, NOW)) == (
        ToolNotice("history_search", SEARCH.summary, "history"),
        ToolNotice("clock", "the time", "other"),
    )
    assert notices((SEARCH, NOW), allowed=lambda tool: tool is NOW) == (ToolNotice("clock", "the time", "other"),)
