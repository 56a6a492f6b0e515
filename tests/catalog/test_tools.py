"""One table: what a tool takes, what is told of it, and what has no effect."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kai.catalog.tools import FROM_THE_RUN, NEWEST, TOOLS, Argument, Tool, notices, rights_of, tools_of
from kai.model.agents import Policy
from kai.model.context import ToolNotice
from kai.model.errors import BadInputError

SEARCH = Tool(
    "history_search",
    "history",
    "find earlier messages of this conversation",
    (
        Argument("query", "the words"),
        Argument("limit", "how many", "number", default=10, most=50),
        Argument("kind", "of what", default="fact", choices=("fact", "note")),
    ),
)
NOW = Tool("clock", "other", "the time")


def test_every_tool_has_a_name_that_a_command_and_a_path_can_bear_and_one_summary() -> None:
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)
    for tool in TOOLS:
        assert tool.name.replace("_", "").isalpha()
        assert tool.summary
        assert not tool.summary.endswith(".")


def test_no_argument_of_any_tool_says_who_calls_or_for_whom() -> None:
    assert {one.name for tool in TOOLS for one in tool.arguments} & FROM_THE_RUN == set()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_what_is_told_of_the_arguments_is_json_schema(tool: Tool) -> None:
    Draft202012Validator.check_schema(tool.schema)


def test_the_block_tells_of_the_allowed_tools_in_the_order_of_the_table() -> None:
    assert notices((SEARCH, NOW)) == (
        ToolNotice("history_search", SEARCH.summary, "history"),
        ToolNotice("clock", "the time", "other"),
    )


def test_a_tool_that_changes_memory_is_there_only_where_the_definition_says_where() -> None:
    def names(policy: Policy, *, remembers: bool = True) -> set[str]:
        return {tool.name for tool in tools_of(rights_of(policy, remembers=remembers)) if tool.group == "memory"}

    assert names(Policy()) == {"memory_search"}
    assert names(Policy(tool=(), write=("person/self/*",))) == {"memory_save", "memory_correct"}
    assert names(Policy(tool=(), delete=("person/self/*",))) == {"memory_forget"}
    assert names(Policy(write=("person/self/*",), delete=("person/self/*",)), remembers=False) == set()


def test_what_only_looks_says_so() -> None:
    memory = {"memory_save", "memory_correct", "memory_forget"}
    work = {"delegate", "task_note", "task_status", "task_withdraw"}
    assert {tool.name for tool in TOOLS if tool.changes} == memory | work


def test_arguments_are_filled_with_their_defaults() -> None:
    assert SEARCH.checked({"query": "pump"}) == {"query": "pump", "limit": 10, "kind": "fact"}


@pytest.mark.parametrize("name", sorted(FROM_THE_RUN))
@pytest.mark.parametrize("value", ["p-ben", None, 7, {"a": 1}])
def test_what_belongs_to_the_run_has_no_effect_when_it_is_sent(name: str, value: Any) -> None:
    """The attack: a prompt-injected agent names another person, channel, mode or scope in its call."""
    assert SEARCH.checked({"query": "pump", name: value}) == SEARCH.checked({"query": "pump"})


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": " \n"}, "query"),
        ({"query": 7}, "query"),
        ({"query": "x" * 4_001}, "query"),
        ({"query": "a\0b"}, "query"),
        ({"query": "x", "limit": 5, "kind": "rumour"}, "kind"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 51}, "limit"),
        ({"query": "x", "limit": True}, "limit"),
        ({"query": "x", "limit": "7"}, "limit"),
        ({"query": "x", "owner_of": "y"}, "owner_of"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(given: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInputError) as caught:
        SEARCH.checked(given)
    assert caught.value.field == field


def test_no_message_has_the_number_that_stands_for_the_newest() -> None:
    assert NEWEST > 2**50


FINE = {"number": 1, "text": "x"}


@pytest.mark.parametrize(
    ("tool", "name"),
    [(tool, one.name) for tool in TOOLS for one in tool.arguments],
    ids=[f"{tool.name}-{one.name}" for tool in TOOLS for one in tool.arguments],
)
def test_bad_input_to_any_argument_of_any_tool_is_refused_by_its_name(tool: Tool, name: str) -> None:
    """The attack: nothing, a NUL, a megabyte, other types, a surrogate: nothing of it reaches what the tool does."""
    fine = {one.name: one.choices[-1] if one.choices else FINE[one.kind] for one in tool.arguments}
    assert tool.checked(fine) == fine
    argument = next(one for one in tool.arguments if one.name == name)
    texts = ["", " \n", "a\0b", "x" * 1_000_000, 7, True, ["*"], {"*": 1}]
    numbers = ["1", 0, -1, 2**70, 1.5, True, [1], {}, float("nan")]
    for bad in texts if argument.kind == "text" else numbers:
        if bad != argument.default:
            with pytest.raises(BadInputError) as caught:
                tool.checked({**fine, name: bad})
            assert caught.value.field == name
