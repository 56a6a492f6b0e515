"""The OpenAPI 3.1 document, made from the same table as the routes."""

import re
from typing import Any

from pydantic import TypeAdapter

import kai
from kai.api.answers import JSON, PROBLEM, SSE, TEXT, FileAnswer, Stream, TextAnswer
from kai.api.bodies import Body, NoBody, Query
from kai.api.endpoint import Route
from kai.api.problems import ProblemDocument
from kai.model.turns import Delivery, Progress

_REF = "#/components/schemas/{model}"


def document(routes: tuple[Route, ...]) -> dict[str, Any]:
    """The document of a table of routes. Takes a fraction of a second."""
    components: dict[str, Any] = {}
    for kind in (Delivery, Progress):  # what the events of a stream carry
        _schema(kind, components)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kai",
            "version": kai.__version__,
            "description": "On the unix socket people.sock. Who calls follows from the peer's uid; an operator may "
            "speak for a person with the header `kai-as: NAME`.",
        },
        "servers": [{"url": "http://kai"}],
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(route: Route, components: dict[str, Any]) -> dict[str, Any]:
    body, query, answer = route.shapes()
    summary, _, description = (route.handler.__doc__ or "").partition("\n\n")
    problem = {PROBLEM: {"schema": _schema(ProblemDocument, components)}}
    found: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": " ".join(summary.split()),
        "description": " ".join(description.split()),
        "parameters": [*_path_parameters(route.path), *_query_parameters(query)],
        "responses": {
            str(route.status): {"description": "Done.", "content": _content(answer, components)},
            "default": {"description": "A problem.", "content": problem},
        },
    }
    if body is not NoBody:
        content = {"*/*": {}} if body is None else {JSON: {"schema": _schema(body, components)}}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _content(answer: Any, components: dict[str, Any]) -> dict[str, Any]:
    if answer is type(None):
        return {}
    if answer is FileAnswer:
        return {"*/*": {}}
    if answer is Stream:
        return {SSE: {"schema": {"type": "string"}}}
    if answer is TextAnswer:
        return {TEXT: {"schema": {"type": "string"}}}
    return {JSON: {"schema": _schema(answer, components)}}


def _schema(kind: Any, components: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; one that has a name of its own goes to the components."""
    schema = TypeAdapter(kind).json_schema(mode="validation" if _is_body(kind) else "serialization", ref_template=_REF)
    components.update(schema.pop("$defs", {}))
    if "title" not in schema:
        return schema
    components[schema["title"]] = schema
    return {"$ref": _REF.format(model=schema["title"])}


def _is_body(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Body)


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", path)
    ]


def _query_parameters(query: type[Query]) -> list[dict[str, Any]]:
    schema = TypeAdapter(query).json_schema()
    return [
        {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": field}
        for name, field in schema.get("properties", {}).items()
    ]
