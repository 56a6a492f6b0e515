"""The OpenAPI 3.1 document, made from the same table as the routes."""

import re
from typing import Any, get_type_hints

from pydantic import TypeAdapter

import kai
from kai.api.answers import JSON, PROBLEM, SSE, TEXT, Stream
from kai.api.bodies import Body, NoBody, Query
from kai.api.endpoint import Route
from kai.api.problems import ProblemDocument
from kai.model.messages import AttachmentInfo
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
    answer = _content(get_type_hints(route.handler)["return"], components)
    problem = {PROBLEM: {"schema": _schema(ProblemDocument, components)}}
    found: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": route.summary,
        "parameters": [_parameter("path", name, {"type": "string"}) for name in re.findall(r"\{(\w+)\}", route.path)],
        "responses": {
            str(route.status): {"description": "Done.", "content": answer},
            "default": {"description": "A problem.", "content": problem},
        },
    }
    if issubclass(route.fields, Query):
        schema = route.fields.model_json_schema()
        for name, field in schema.get("properties", {}).items():
            is_required = name in schema.get("required", ())
            found["parameters"].append(_parameter("query", name, field, is_required=is_required))
        body: dict[str, Any] = {"*/*": {}} if route.method == "POST" else {}
    else:
        body = {} if route.fields is NoBody else {JSON: {"schema": _schema(route.fields, components)}}
    return found | ({"requestBody": {"required": True, "content": body}} if body else {})


def _parameter(where: str, name: str, schema: dict[str, Any], *, is_required: bool = True) -> dict[str, Any]:
    return {"name": name, "in": where, "required": is_required, "schema": schema}


def _content(answer: Any, components: dict[str, Any]) -> dict[str, Any]:
    if answer is type(None):
        return {}
    if answer is AttachmentInfo:
        return {"*/*": {}}
    if answer in (Stream, str):
        return {SSE if answer is Stream else TEXT: {"schema": {"type": "string"}}}
    return {JSON: {"schema": _schema(answer, components)}}


def _schema(kind: Any, components: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; one that has a name of its own goes to the components."""
    is_body = isinstance(kind, type) and issubclass(kind, Body)
    schema = TypeAdapter(kind).json_schema(mode="validation" if is_body else "serialization", ref_template=_REF)
    components.update(schema.pop("$defs", {}))
    if "title" not in schema:
        return schema
    components[schema["title"]] = schema
    return {"$ref": _REF.format(model=schema["title"])}
