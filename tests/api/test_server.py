"""Two sockets that open, and an end that ends."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import anyio
import httpx
import pytest
from anyio import to_thread

from kai.api.limits import ApiLimits
from kai.settings.problems import FolderError
from tests.api.conftest import House, until

pytestmark = pytest.mark.anyio


async def test_both_sockets_are_there_for_the_daemons_user_alone_and_gone_at_the_end(house: House) -> None:
    async with house.serving():
        for path in (house.people, house.agents):
            assert stat.S_IMODE(path.lstat().st_mode) == 0o600
        assert {entry.name for entry in house.people.parent.iterdir()} == {"people.sock", "agents.sock"}
    assert list(house.people.parent.iterdir()) == []


async def test_groups_may_be_let_in_each_to_its_face(house: House) -> None:
    async with house.serving(people_group=os.getgid()):
        assert stat.S_IMODE(house.people.lstat().st_mode) == 0o660
        assert stat.S_IMODE(house.agents.lstat().st_mode) == 0o600


async def test_a_folder_in_which_others_may_write_is_refused(house: House) -> None:
    house.people.parent.mkdir(mode=0o700)
    house.people.parent.chmod(0o777)
    with pytest.raises(FolderError, match="write"):
        async with house.serving():
            pass
    assert list(house.people.parent.iterdir()) == []


async def test_a_path_too_long_for_a_socket_is_said_before_anything_is_bound(house: House) -> None:
    house.folder = house.folder / ("x" * 100)
    with pytest.raises(FolderError, match="too long"):
        async with house.serving():
            pass


async def test_the_daemons_signals_stay_its_own(house: House) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    async with house.serving():
        assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


async def test_at_the_end_streams_end_whole_and_nothing_is_left_running(house: House) -> None:
    async with house.http() as http, anyio.create_task_group() as group:
        ended: list[bytes] = []

        async def listen() -> None:
            async with http.stream("GET", "/v1/deliveries") as answer:
                ended.append(await answer.aread())

        async with house.serving() as parts:
            group.start_soon(listen)
            await until(lambda: bool(parts.streams))
        with anyio.fail_after(5):
            while not ended:  # noqa: ASYNC110
                await anyio.sleep(0.005)
    assert ended == [b""]
    assert house.door.closed == 1
    assert parts.streams == set()


async def test_a_request_in_work_at_the_end_is_answered(house: House) -> None:
    house.door.hold = anyio.Event()
    answers: list[httpx.Response] = []
    async with house.http() as http, anyio.create_task_group() as group:

        async def post() -> None:
            answers.append(await http.post("/v1/messages", json={"chat": "1", "external_id": "a"}))

        async def let_go() -> None:
            await until(lambda: not house.people.exists())
            assert house.door.hold is not None
            house.door.hold.set()

        async with house.serving():
            group.start_soon(post)
            await until(lambda: bool(house.door.calls))
            group.start_soon(let_go)
    assert [(answer.status_code, answer.headers["connection"]) for answer in answers] == [(202, "close")]


async def test_a_request_that_never_ends_is_cancelled_in_time(house: House) -> None:
    house.limits = ApiLimits(stop_s=0.1)
    house.door.hold = anyio.Event()
    async with await anyio.create_unix_listener(house.folder / "unused"), anyio.create_task_group() as group:
        with anyio.fail_after(5):
            async with house.serving():
                body = b'{"chat":"1","external_id":"a"}'
                head = b"POST /v1/messages HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
                group.start_soon(house.raw, head % len(body) + body)
                await until(lambda: bool(house.door.calls))
    assert house.door.taken == {}


async def test_it_opens_again_at_once_after_a_daemon_that_was_killed(house: House) -> None:
    async with house.serving():
        pass
    script = "import socket, sys\nfor path in sys.argv[1:]:\n    socket.socket(socket.AF_UNIX).bind(path)\n"
    await anyio.run_process([sys.executable, "-c", script, str(house.people), str(house.agents)])
    async with house.serving(), house.http() as http:
        assert (await http.get("/healthz")).status_code == 200


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
async def test_another_os_user_is_told_by_the_kernel_and_nobody_by_what_they_say(house: House) -> None:
    house.os_user = lambda uid: {0: "root", 65534: "ben"}.get(uid, "")
    house.folder.chmod(0o711)
    script = (
        "import os, socket, sys\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "peer = socket.socket(socket.AF_UNIX); peer.connect(sys.argv[1])\n"
        "peer.sendall(b'GET /v1/status HTTP/1.1\\r\\nconnection: close\\r\\n' + os.fsencode(sys.argv[2]) + b'\\r\\n')\n"
        "while data := peer.recv(65536): sys.stdout.buffer.write(data)\n"
    )

    def ask(header: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-c", script, str(house.people), header], stdout=subprocess.PIPE, check=False, timeout=10
        ).stdout

    async with house.serving():
        pass
    house.people.parent.chmod(0o711)
    async with house.serving(people_group=65534):
        assert b" 200 " in await to_thread.run_sync(ask, "")
        assert b" 403 " in await to_thread.run_sync(ask, "kai-as: Anna\r\n")
    assert [(caller.principal, caller.operator, caller.os_user) for caller in house.door.callers] == [
        ("p-ben", False, "ben")
    ]


def test_importing_the_daemons_side_of_the_api_does_not_load_the_client() -> None:
    script = "import sys, kai.api.server; print('httpx' in sys.modules, 'kai.client' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parents[2], text=True
    )
    assert done.stdout.split() == ["False", "False"]
