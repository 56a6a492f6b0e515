"""The OpenAPI 3.1 document, made from the same table as the routes."""

import re
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

import kai
from kai.api.answers import JSON, PROBLEM, SSE, FileAnswer, JsonAnswer, Stream, TextAnswer
from kai.api.bodies import NoBody, Query
from kai.api.endpoint import Route
from kai.api.problems import ProblemDocument
from kai.model.turns import Delivery, Progress

_REF = "#/components/schemas/{model}"
_ALSO = (ProblemDocument, Delivery, Progress)  # bodies of problems and of stream events


def encoded_document(routes: tuple[Route, ...]) -> bytes:
    """The document as JSON. Takes a fraction of a second."""
    return to_json(document(routes), indent=1)


def document(routes: tuple[Route, ...]) -> dict[str, Any]:
    """The document of a table of routes."""
    schemas, components = _schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
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


def _schemas(routes: tuple[Route, ...]) -> tuple[dict[Any, Any], dict[str, Any]]:
    inputs = {body for route in routes if (body := route.shapes()[0])}
    outputs = {key: kind for route in routes if _is_json(kind := route.shapes()[2]) for key in [str(kind)]}
    wanted: list[tuple[Any, Any, TypeAdapter[Any]]] = [
        *((body.__name__, "validation", TypeAdapter(body)) for body in sorted(inputs, key=lambda body: body.__name__)),
        *((key, "serialization", TypeAdapter(kind)) for key, kind in outputs.items()),
        *((kind.__name__, "serialization", TypeAdapter(kind)) for kind in _ALSO),
    ]
    found, definitions = TypeAdapter.json_schemas(wanted, ref_template=_REF)
    return {key: schema for (key, _), schema in found.items()}, definitions.get("$defs", {})


def _is_json(kind: Any) -> bool:
    return kind is not None and kind is not type(None) and kind not in (Stream, FileAnswer, TextAnswer, JsonAnswer)


def _operation(route: Route, schemas: dict[Any, Any]) -> dict[str, Any]:
    body, query, answer = route.shapes()
    summary, _, description = (route.handler.__doc__ or "").partition("\n\n")
    found: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": " ".join(summary.split()),
        "description": " ".join(description.split()),
        "parameters": [*_path_parameters(route.path), *_query_parameters(query)],
        "responses": {
            str(route.status): _response(answer, schemas),
            "default": {
                "description": "A problem.",
                "content": {PROBLEM: {"schema": schemas[ProblemDocument.__name__]}},
            },
        },
    }
    if body is None:
        found["requestBody"] = {"required": True, "content": {"*/*": {}}}
    elif body is not NoBody:
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": schemas[body.__name__]}}}
    return found


def _response(answer: Any, schemas: dict[Any, Any]) -> dict[str, Any]:
    if answer is Stream:
        return {"description": "Events.", "content": {SSE: {"schema": {"type": "string"}}}}
    if answer is FileAnswer:
        return {"description": "The bytes.", "content": {"*/*": {}}}
    if answer is TextAnswer:
        return {"description": "Text.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    if answer is JsonAnswer:
        return {"description": "JSON.", "content": {JSON: {"schema": {"type": "object"}}}}
    if not _is_json(answer):
        return {"description": "Done."}
    return {"description": "Done.", "content": {JSON: {"schema": schemas[str(answer)]}}}


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
