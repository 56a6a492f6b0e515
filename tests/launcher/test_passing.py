"""Descriptors that come along with a datagram."""

import os
import socket
from collections.abc import Iterator

import pytest

from kai.launcher.passing import become_standard, receive


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        yield ours, theirs


def test_as_many_as_are_expected_are_given_and_none_is_inherited(pair: tuple[socket.socket, socket.socket]) -> None:
    read_end, write_end = os.pipe()
    socket.send_fds(pair[0], [b"two"], [read_end, write_end])
    data, passed = receive(pair[1].fileno(), 2)
    assert data == b"two"
    os.write(passed[1], b"x")
    assert os.read(read_end, 1) == b"x"
    assert not any(map(os.get_inheritable, passed))
    for each in (read_end, write_end, *passed):
        os.close(each)


@pytest.mark.parametrize("count", [0, 1, 3, 15, 60])
def test_any_other_number_is_closed_and_none_is_given(pair: tuple[socket.socket, socket.socket], count: int) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    read_end, write_end = os.pipe()
    socket.send_fds(pair[0], [b"some"], [write_end] * count)
    os.close(write_end)
    assert receive(pair[1].fileno(), 2) == (b"some", [])
    assert os.read(read_end, 1) == b"", "the last copy is closed"
    os.close(read_end)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_the_end_of_the_other_end_is_nothing(pair: tuple[socket.socket, socket.socket]) -> None:
    pair[0].close()
    assert receive(pair[1].fileno(), 3) == (b"", [])


def test_without_any_the_standard_ones_are_of_nothing() -> None:
    pid = os.fork()
    if pid == 0:
        become_standard([])
        os._exit(0 if os.readlink("/proc/self/fd/0") == os.devnull else 1)  # noqa: PTH115
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
