"""The OpenAPI document says what the routes do, no more and no less."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Route as PathRoute
from starlette.routing import Router

from kai.api.agent_routes import AGENT_ROUTES
from kai.api.attachments import AttachmentFolder
from kai.api.callers import Callers
from kai.api.endpoint import Methods, Parts, router_of
from kai.api.openapi import document
from kai.api.routes import ROUTES
from kai.catalog.tools import TOOLS
from tests.api.fake_door import FakeDirectory, FakeDoor

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
# What OpenAPI 3.1 asks of each object, and all that it allows there (of what we use).
OPERATION = {"operationId", "summary", "parameters", "requestBody", "responses"}
PARAMETER = {"name", "in", "required", "schema"}


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """The document as a client reads it."""
    found: dict[str, Any] = json.loads(json.dumps(document(ROUTES)))
    return found


def operations(written: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in written["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def nodes(value: Any) -> Iterator[Any]:
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(inner)


def schemas(written: dict[str, Any]) -> Iterator[Any]:
    yield from written["components"]["schemas"].values()
    for node in nodes(written["paths"]):
        if isinstance(node, dict) and isinstance(node.get("schema"), dict):
            yield node["schema"]


def test_the_document_has_the_very_routes_that_are_served(written: dict[str, Any], tmp_path: Path) -> None:
    callers = Callers(FakeDirectory(), lambda: ())
    parts = Parts(FakeDoor(), callers, AttachmentFolder(tmp_path), lambda: 1, lambda: 1)
    router: Router = router_of(parts, ROUTES)
    served = {
        (route.path, method.lower())
        for route in router.routes
        if isinstance(route, PathRoute) and isinstance(route.app, Methods)
        for method in route.app.endpoints
    }
    assert {(path, method) for path, method, _ in operations(written)} == served
    assert len(served) == len(ROUTES)


def test_the_document_has_the_form_that_openapi_asks_for(written: dict[str, Any]) -> None:
    assert re.fullmatch(r"3\.1\.\d+", written["openapi"])
    assert {"title", "version"} <= set(written["info"])
    assert set(written) == {"openapi", "info", "servers", "paths", "components"}
    for path, method, operation in operations(written):
        assert path.startswith("/")
        assert method in METHODS
        assert {"operationId", "responses"} <= set(operation) <= OPERATION
        assert operation["summary"]
        assert all(re.fullmatch(r"[1-5]\d\d|default", status) for status in operation["responses"])
        assert all(answer["description"] for answer in operation["responses"].values())
        assert not (method == "get" and "requestBody" in operation)
        for parameter in operation["parameters"]:
            assert set(parameter) == PARAMETER
            assert parameter["in"] in ("path", "query")
    ids = [operation["operationId"] for _, _, operation in operations(written)]
    assert len(ids) == len(set(ids))


def test_every_part_of_a_path_in_braces_is_a_required_parameter(written: dict[str, Any]) -> None:
    for path, _, operation in operations(written):
        given = [parameter for parameter in operation["parameters"] if parameter["in"] == "path"]
        assert [parameter["name"] for parameter in given] == re.findall(r"\{(\w+)\}", path)
        assert all(parameter["required"] is True for parameter in given)


def test_every_schema_is_one_and_every_reference_leads_somewhere(written: dict[str, Any]) -> None:
    for schema in schemas(written):
        Draft202012Validator.check_schema(schema)
    for node in nodes(written):
        if isinstance(node, dict) and "$ref" in node:
            assert node["$ref"].removeprefix("#/components/schemas/") in written["components"]["schemas"]


def test_every_component_is_used_or_carried_by_a_stream(written: dict[str, Any]) -> None:
    used = {node["$ref"].rsplit("/", 1)[1] for node in nodes(written) if isinstance(node, dict) and "$ref" in node}
    assert set(written["components"]["schemas"]) - used == {"Delivery", "Progress"}


def test_bodies_allow_no_field_beside_theirs(written: dict[str, Any]) -> None:
    for _, _, operation in operations(written):
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            name = content["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
            assert written["components"]["schemas"][name]["additionalProperties"] is False


def test_a_message_may_be_checked_against_the_document(written: dict[str, Any]) -> None:
    schema = {"$ref": "#/components/schemas/MessageBody", "components": written["components"]}
    check = Draft202012Validator(schema)
    assert check.is_valid({"chat": "1", "external_id": "a", "text": "hi", "sent_at": "2026-11-30T10:00:00Z"})
    assert not check.is_valid({"chat": "1"})
    assert not check.is_valid({"chat": "1", "external_id": "a", "bridge": "tg"})
    assert not check.is_valid({"chat": 1, "external_id": "a"})


def test_the_documentation_has_a_heading_for_every_route_and_no_other(written: dict[str, Any]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    headings = set(re.findall(r"^#+ `([A-Z]+ /\S*)`$", text, re.MULTILINE))
    agents = {f"{route.method} {route.path}" for route in AGENT_ROUTES}
    assert headings == {f"{method.upper()} {path}" for path, method, _ in operations(written)} | agents


def test_the_documentation_lists_every_tool_and_no_other() -> None:
    text = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    section = text.partition("### `POST /v1/tools/{id}`")[2].partition("\n#")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [tool.name for tool in TOOLS]


def test_the_documentation_of_a_route_names_every_field_that_may_be_sent(written: dict[str, Any]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    parts = re.split(r"^#+ `([A-Z]+ /\S*)`$", text, flags=re.MULTILINE)
    said = dict(zip(parts[1::2], parts[2::2], strict=True))
    for path, method, operation in operations(written):
        names = {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"}
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            name = content["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
            names |= set(written["components"]["schemas"][name]["properties"])
        section = said[f"{method.upper()} {path}"].split("\n#")[0]
        assert {name for name in names if not re.search(f"`{name}[`=]", section)} == set(), f"{method} {path}"
