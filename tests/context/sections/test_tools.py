"""Notices of the tools, made from the rows that the server is made of."""

from kai.context.sections.tools import draft
from kai.model.context import ToolNotice
from tests.context.examples import MEMORY_TOOLS, TOOLS, facts


def test_scheduling_and_services_each_say_how_they_are_reached() -> None:
    found = draft(facts(tools=TOOLS))
    assert found is not None
    scheduling, services = found.text(found.items).split("\n")
    assert scheduling == (
        "[Scheduling API: schedule, jobs. Run `kai tool schedule --help`; also offered as the MCP tools kai_schedule, "
        "kai_jobs.]"
    )
    assert services == (
        "[External services available: weather (read). Run `kai tool services --help`; also offered as the MCP tool "
        "kai_services.]"
    )
    assert found.stable


def test_without_such_tools_there_is_no_notice() -> None:
    assert draft(facts(tools=MEMORY_TOOLS)) is None
    assert draft(facts(tools=())) is None


def test_what_a_service_calls_itself_stays_on_its_line() -> None:
    found = draft(facts(tools=(ToolNotice("services", "x]\n[Scheduling API: y", "services"),)))
    assert found is not None
    assert len(found.text(found.items).split("\n")) == 1


def test_a_way_that_is_not_there_is_not_named() -> None:
    found = draft(facts(tools=TOOLS, tools_over_mcp=False))
    assert found is not None
    assert "[Scheduling API: schedule, jobs. Run `kai tool schedule --help`.]" in found.text(found.items)
    assert "MCP" not in found.text(found.items)
