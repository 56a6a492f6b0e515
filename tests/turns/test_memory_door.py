"""Memory over the API: each caller their own, an operator told apart, every refusal a receipt or an error."""

import pytest

from kai.model.errors import ApiError
from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


async def test_a_record_lives_its_life_over_the_api(kai: Kai) -> None:
    memory = kai.client.memory
    saved = await memory("save", {"text": "the pump is in the cellar", "op": "one"})
    assert saved["outcome"] == "committed"
    assert (await memory("save", {"text": "the pump is in the cellar", "op": "one"}))["record"] == saved["record"]
    assert (await memory("save", {"text": "another", "op": "one"}))["reason"] == "op_id_reuse"
    found = await memory("search", {"query": "pumps"})
    assert (found["status"], found["hits"][0]["text"]) == ("ok", "the pump is in the cellar")
    assert found["hits"][0]["parts"]["keyword"] == 1.0
    record = saved["record"]
    assert (await memory("correct", {"text": "it is in the attic", "base": 1}, record))["revision"] == 2
    assert (await memory("forget", {"base": 1}, record))["outcome"] == "conflict"
    shown = await memory("record", {}, record)
    assert [one["content"] for one in shown["revisions"]] == ["the pump is in the cellar", "it is in the attic"]
    assert (await memory("forget", {}, record))["outcome"] == "committed"
    assert (await memory("search", {"query": "attic"}))["status"] == "empty"
    assert [one["record"] for one in await memory("records", {"status": "forgotten"})] == [record]
    document = await memory("export", {})
    assert document["records"] == []
    assert (await memory("restore", {}, record))["outcome"] == "committed"
    assert (await memory("import", {"document": await memory("export", {})}))["counts"] == {"noop: known": 1}
    assert (await memory("redact", {}, record))["outcome"] == "committed"
    assert await memory("doctor", {}) == []
    assert (await memory("gc", {}))["expired"] == 0
    assert (await memory("reindex", {}))["records"] == 0
    actions = {(row["action"], row["status"]) for row in await memory("audit", {"limit": "100"})}
    assert {("save", "committed"), ("search", "empty"), ("forget", "conflict"), ("export", "ok")} <= actions
    assert (await memory("receipts", {}))[0]["operation"] == "redact"


async def test_a_grant_is_made_and_taken_back_over_the_api(kai: Kai) -> None:
    memory = kai.client.memory
    await kai.client.add_person("Bob")
    saved = await memory("save", {"text": "the key is under the mat"})
    made = await memory("grant", {"what": saved["record"], "to": "Bob", "days": 1.0})
    assert made["outcome"] == "committed"
    assert (await memory("revoke", {}, made["reason"]))["outcome"] == "committed"
    (row,) = await memory("grants", {})
    assert row["revoked_at"] is not None


@pytest.mark.parametrize("deed", ["correct", "forget", "restore", "redact"])
async def test_what_is_not_there_is_a_refusal_that_says_so(kai: Kai, deed: str) -> None:
    receipt = await kai.client.memory(deed, {"text": "x"} if deed == "correct" else {}, "rec-none")
    assert (receipt["outcome"], receipt["reason"]) == ("rejected", "unknown")
    with pytest.raises(ApiError, match="no record"):
        await kai.client.memory("record", {}, "rec-none")


@pytest.mark.parametrize(
    ("deed", "fields"),
    [
        ("save", {"text": "x", "kind": "rumour"}),
        ("save", {"text": "x", "principal": "p-bob"}),
        ("save", {"text": "x", "origin": "explicit_user"}),
        ("save", {"text": "x", "ttl_s": -1.0}),
        ("search", {"query": "x", "namespaces": "person/self/*"}),
        ("save", {"text": "x", "channel": "c-none"}),
    ],
)
async def test_what_a_caller_may_not_say_is_refused(kai: Kai, deed: str, fields: dict[str, object]) -> None:
    with pytest.raises(ApiError):
        await kai.client.memory(deed, fields)


FILE = """# Memory

- the pump is in the cellar
- the key is sk-ant-api03-a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2
- the bins go out on Monday (2026-03-01)
- The bins go out on Monday.
- it was forgotten
"""


async def test_a_file_is_taken_in_as_it_was_foreseen_and_only_once(kai: Kai) -> None:
    memory = kai.client.memory
    await memory("forget", {}, (await memory("save", {"text": "it was forgotten"}))["record"])
    before = await memory("receipts", {})
    foreseen = await memory("import", {"markdown": FILE, "dry_run": True})
    assert await memory("receipts", {}) == before
    assert await memory("records", {}) == []
    found = [(one["line"], one["outcome"], one["reason"].partition(":")[0]) for one in foreseen["entries"]]
    assert found == [
        (3, "committed", ""), (4, "rejected", "secret"), (5, "committed", ""), (6, "noop", "known"),
        (7, "rejected", "tombstoned"),
    ]  # fmt: skip
    assert "sk-ant" not in str(foreseen)
    made = await memory("import", {"markdown": FILE})
    assert made["counts"] == foreseen["counts"]
    kept = {one["text"]: one for one in await memory("records", {})}
    assert {one["origin"] for one in kept.values()} == {"import"}
    assert kept["the bins go out on Monday"]["said_at"].startswith("2026-03-01")
    again = await memory("import", {"markdown": FILE})
    assert again["counts"].get("committed") is None
    assert len(await memory("records", {})) == len(kept) == 2


async def test_an_export_can_be_looked_at_first_too(kai: Kai) -> None:
    memory = kai.client.memory
    await memory("save", {"text": "the pump is in the cellar"})
    document = await memory("export", {})
    document["records"][0]["record"] = "rec-another"
    assert (await memory("import", {"document": document, "dry_run": True}))["counts"] == {"noop: known": 1}
