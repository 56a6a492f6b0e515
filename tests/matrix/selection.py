"""A plugin of pytest: only tests that are clauses, of the wanted backends; each report says which clause of which."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--matrix-backends", default="", help="ids of backends, with commas between them")
    parser.addoption("--matrix-clauses", default="", help="names of clauses, with | between them")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    backends = set(filter(None, config.getoption("--matrix-backends").split(",")))
    clauses = set(filter(None, config.getoption("--matrix-clauses").split("|")))
    kept, left = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        clause, backend = clause_of(item), backend_of(item)
        wanted = bool(clause) and (not backends or backend in backends) and (not clauses or clause in clauses)
        (kept if wanted else left).append(item)
        item.user_properties += [("clause", clause), ("backend", backend)]
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def clause_of(item: pytest.Item) -> str:
    """The name of the clause that a test is (a part of); "" when it is none."""
    mark = item.get_closest_marker("clause")
    return str(mark.args[0]) if mark else ""


def backend_of(item: pytest.Item) -> str:
    call = getattr(item, "callspec", None)
    chosen = call.params.get("agent") if call else None
    return str(chosen.backend) if chosen else ""
