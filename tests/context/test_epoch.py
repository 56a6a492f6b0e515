"""The epoch: everything a session stands on, and nothing that moves by itself."""

from dataclasses import fields, replace
from typing import Any

import pytest

from kai.context.epoch import Grounds, epoch, revision
from kai.model.context import FileState, MemoryMode, PersonFile
from kai.model.ids import ChannelId, PrincipalId
from kai.model.people import ChannelKind

BASE = Grounds(
    backend="claude",
    version="2.1.0",
    argv=("claude", "--verbose"),
    workspace="/srv/garden",
    os_user="ann",
    channel=ChannelId("c-1"),
    kind=ChannelKind.PRIVATE,
    audience=(PrincipalId("p-1"), PrincipalId("p-2")),
    agent="r1",
    memory=MemoryMode.ENABLED,
    model="opus",
    effort="high",
    policy="q1",
    identity="i1",
    tools=("schedule", "jobs"),
)
CHANGED: dict[str, Any] = {
    "backend": "codex",
    "version": "2.1.1",
    "argv": ("claude",),
    "workspace": "/srv/Käse",
    "os_user": "bob",
    "channel": ChannelId("c-2"),
    "kind": ChannelKind.SHARED,
    "audience": (PrincipalId("p-1"),),
    "agent": "r2",
    "memory": MemoryMode.TEMPORARY,
    "model": "haiku",
    "effort": "low",
    "sets_model": True,
    "policy": "q2",
    "identity": "i2",
    "tools": ("schedule",),
}


@pytest.mark.parametrize("ground", [field.name for field in fields(Grounds)])
def test_a_change_of_any_ground_is_another_epoch(ground: str) -> None:
    assert epoch(replace(BASE, **{ground: CHANGED[ground]})) != epoch(BASE)


def test_the_epoch_is_the_same_after_a_restart() -> None:
    """When this changes, every session of every installation starts afresh: let it be meant."""
    assert epoch(BASE) == "72c91b00dff2e8ab62a5525956cae9692f9f37c1cb68a0f5bb40b8b84e534a2b"


def test_a_model_that_can_be_set_in_place_is_no_ground_for_another_session() -> None:
    able = replace(BASE, sets_model=True)
    assert epoch(replace(able, model="haiku", effort="low")) == epoch(able)


def test_the_order_of_members_and_tools_says_nothing() -> None:
    assert epoch(replace(BASE, audience=BASE.audience[::-1], tools=BASE.tools[::-1])) == epoch(BASE)


def test_an_outage_of_memory_is_no_change_of_what_the_operator_wants() -> None:
    assert epoch(replace(BASE, memory=MemoryMode.FAULT)) == epoch(BASE)


def test_two_grounds_are_never_run_together() -> None:
    assert epoch(replace(BASE, workspace="/a", os_user="b")) != epoch(replace(BASE, workspace="/ab", os_user=""))
    assert epoch(replace(BASE, workspace="/日本")) != epoch(replace(BASE, workspace="/Käse"))


def test_an_identity_file_counts_by_its_text_and_its_state() -> None:
    file = PersonFile("/h/AGENTS.md", FileState.PRESENT, "a")
    revisions = {
        revision(None),
        revision(file),
        revision(replace(file, text="b\ud800")),
        revision(replace(file, state=FileState.MISSING, text="")),
        revision(replace(file, state=FileState.UNSAFE, text="")),
        revision(replace(file, path="/g/AGENTS.md")),
    }
    assert len(revisions) == 6
    assert revision(replace(file)) == revision(file)
