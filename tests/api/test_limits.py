"""Connections stay far below the limit of open files, and one uid cannot take them all."""

import resource

import pytest

from kai.api.limits import ApiLimits


@pytest.mark.parametrize(("files", "connections"), [(1024, 256), (256, 64), (4096, 256), (8, 4)])
def test_connections_take_a_quarter_of_the_open_files_at_most(
    monkeypatch: pytest.MonkeyPatch, files: int, connections: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert ApiLimits().most_connections == connections


def test_connections_are_bounded_where_open_files_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert ApiLimits().most_connections == 256


def test_one_uid_leaves_room_for_the_others() -> None:
    assert ApiLimits(connections=40).most_of_one_uid == 30
    assert ApiLimits(connections=1).most_of_one_uid == 1
