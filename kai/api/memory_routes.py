"""The routes of memory: a line each, which is also what the client and the OpenAPI document are made from."""

from typing import Any

from kai.api.bodies import (
    AuditQuery,
    BaseBody,
    CorrectionBody,
    Fields,
    GrantBody,
    ImportBody,
    NoBody,
    NoQuery,
    Place,
    RecallBody,
    RecordBody,
    RecordsQuery,
    RowsQuery,
    WhereQuery,
)
from kai.api.endpoint import Call, Handler, Route


def _route(method: str, path: str, deed: str, summary: str, fields: type[Fields], status: int = 200) -> Route:
    return Route(method, f"/v1/memory/{path}", _does(deed), summary, fields, status)


def _does(deed: str) -> Handler:
    async def handler(call: Call) -> Any:
        named = {"record": call.id} if call.id else {}
        return await call.door.memory(call.caller, deed, {**named, **call.fields})

    handler.__name__ = f"memory_{deed}"
    return handler


MEMORY_ROUTES = (
    _route("POST", "search", "search", "Records that fit the words, best first, each with its score.", RecallBody),
    _route("GET", "records", "records", "The caller's records, the last changed first.", RecordsQuery),
    _route("POST", "records", "save", "Keep something; the answer is a receipt.", RecordBody),
    _route("GET", "records/{id}", "record", "One record with its revisions and receipts.", WhereQuery),
    _route("POST", "records/{id}/correct", "correct", "Put another text in its place.", CorrectionBody),
    _route("POST", "records/{id}/forget", "forget", "Use it no more, by no way.", BaseBody),
    _route("POST", "records/{id}/restore", "restore", "Use it again, while its text is kept.", Place),
    _route("POST", "records/{id}/redact", "redact", "Erase it, its message and what was sent of it.", Place),
    _route("POST", "records/{id}/accept", "accept", "Use a candidate from now on.", Place),
    _route("POST", "records/{id}/reject", "reject", "Turn a candidate down for good.", Place),
    _route("GET", "grants", "grants", "What the caller opened to others.", WhereQuery),
    _route("POST", "grants", "grant", "Open a record or a namespace to a channel or a person.", GrantBody),
    _route("POST", "grants/{id}/revoke", "revoke", "Take that back.", Place),
    _route("GET", "receipts", "receipts", "What was done, the newest first.", RowsQuery),
    _route("GET", "audit", "audit", "Who read and wrote what for the caller, the newest first.", AuditQuery),
    _route("GET", "export", "export", "All that is in use, and hashes of what was forgotten.", WhereQuery),
    _route("POST", "import", "import", "Take an export or a MEMORY.md in; what was forgotten stays so.", ImportBody),
    _route("POST", "gc", "gc", "Take out what is over and erase what was kept long enough.", NoBody),
    _route("GET", "doctor", "doctor", "What is wrong with records and indexes.", NoQuery),
    _route("POST", "reindex", "reindex", "Make every index anew.", NoBody),
)
