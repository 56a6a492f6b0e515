"""Which OS users can be a person's."""

import os

import pytest

from kai.people.os_users import may_sudo, unfit
from tests.processes.os_users import needs_root, os_user


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("root", "is root"),
        ("daemon", "a user of the system's"),
        ("nobody", "a user of the system's"),
        ("no-such", "no user"),
    ],
)
def test_users_of_the_system_are_no_persons(name: str, why: str) -> None:
    assert why in unfit(name)


@needs_root
def test_an_ordinary_user_is_fit_and_one_with_powers_is_not() -> None:
    with os_user() as plain, os_user("--groups", "sudo") as ruler:
        assert unfit(plain.pw_name) == ""
        assert "the group sudo" in unfit(ruler.pw_name)
        assert not may_sudo(plain.pw_name)


@needs_root
def test_the_daemons_own_user_and_its_group_are_closed() -> None:
    with os_user() as daemon, os_user("--groups", daemon.pw_name) as friend:
        assert "the daemon's own user" in unfit(daemon.pw_name, daemon_uid=daemon.pw_uid)
        assert "the daemon's own group" in unfit(friend.pw_name, daemon_uid=daemon.pw_uid)
        assert unfit(friend.pw_name, daemon_uid=os.geteuid()) == ""
