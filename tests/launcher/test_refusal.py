"""Who lacks what. The common cases are met by really starting something (the suite of the launchers)."""

import os
from errno import E2BIG, EACCES, EAGAIN, EIO, ELOOP, ENOENT, ENOMEM, EPERM, ETXTBSY
from pathlib import Path

import pytest

from kai.launcher.messages import Spawn
from kai.launcher.refusal import explain

SPEC = Spawn("r-1", ["/bin/true", "x" * 10], {"A": "b"}, "/")


@pytest.mark.parametrize(
    ("stage", "number", "kind", "reason"),
    [
        ("fork", ENOMEM, "fork", "the machine has no memory left"),
        ("fork", EAGAIN, "fork", "may not have more processes"),
        ("exec", EAGAIN, "fork", "may not have more processes"),
        ("exec", E2BIG, "bad", "too long (25 bytes)"),
        ("exec", ETXTBSY, "denied", "writing the file"),
        ("exec", EPERM, "denied", "the system refuses to start it (EPERM)"),
        ("cwd", EIO, "denied", "the folder / cannot be entered (EIO)"),
        ("start", EPERM, "bad", "cannot be set up (EPERM)"),
        ("start", 0, "bad", "cannot be set up (error 0)"),
    ],
)
def test_a_failing_stage_is_put_into_words(stage: str, number: int, kind: str, reason: str) -> None:
    told = explain(SPEC, stage, number)
    assert told[0] == kind
    assert reason in told[1]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\x7fELF", ("missing", "the loader it needs is not on this machine")),
        (b"#!\n", ("denied", "the system refuses to start it (ENOENT)")),
        (b"", ("denied", "the system refuses to start it (ENOENT)")),
        (b"#! /bin/sh -e\n", ("denied", "the system refuses to start it (ENOENT)")),
    ],
)
def test_what_a_program_needs_and_lacks_is_read_from_its_first_line(
    tmp_path: Path, content: bytes, told: tuple[str, str]
) -> None:
    agent = tmp_path / "agent"
    agent.write_bytes(content)
    agent.chmod(0o700)
    assert explain(SPEC._replace(argv=[str(agent)]), "exec", ENOENT) == told


def test_a_loop_of_links_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    kind, reason = explain(SPEC._replace(argv=[f"{tmp_path}/a/agent"]), "exec", ELOOP)
    assert kind == "denied"
    assert f"{tmp_path}/a is a link to b" in reason


def test_a_program_that_nobody_may_read_is_still_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = tmp_path / "agent"
    agent.write_text("#!/bin/sh\n")
    agent.chmod(0o700)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert explain(SPEC._replace(argv=[str(agent)]), "exec", EACCES)[1] == "the system refuses to start it (EACCES)"


def test_a_user_without_a_name_is_told_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4_123_456)
    assert "user 4123456 may not have more processes" in explain(SPEC, "fork", EAGAIN)[1]
