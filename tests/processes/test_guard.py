"""Whom no agent may run as, and which program no agent may be."""

from pathlib import Path

from kai.processes.guard import objection, program_objection, user_objection
from tests.processes.os_users import needs_root, os_user


def test_root_and_nobody_known_are_refused() -> None:
    assert user_objection("root") == "root is root"
    assert "no user" in user_objection("no-such-user")
    assert "no user" in objection("no-such-user", "/bin/true")


@needs_root
def test_a_plain_user_is_refused_only_what_they_may_write_to() -> None:
    with os_user() as alice:
        assert objection(alice.pw_name, "/bin/true") == ""
        assert program_objection(alice.pw_name, "/nowhere") == ""
        own = Path(alice.pw_dir) / "agent"
        own.touch()
        assert program_objection(alice.pw_name, str(own)).startswith(f"{alice.pw_name} may write to {alice.pw_dir}")
