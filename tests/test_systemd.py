"""A service manager is told what goes on, by a daemon that is a process of its own."""

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from kai import systemd
from kai.client import Client
from kai.model.errors import ApiError
from kai.settings.load import inspect
from kai.settings.where import Folders
from tests.e2e.house import House

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]
LIMIT_S = 20.0


class Manager:
    """The side of systemd: hears every line that a service sends."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.heard: list[str] = []
        self._waiting: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(path)
        self._socket.settimeout(LIMIT_S)

    def until(self, word: str) -> str:
        """The next line that holds `word`; what comes before it is kept in `heard`."""
        while True:
            self._waiting = self._waiting or self._socket.recv(4096).decode().split("\n")
            self.heard.append(self._waiting.pop(0))
            if word in self.heard[-1]:
                return self.heard[-1]

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    with tempfile.TemporaryDirectory(prefix="n") as folder:  # a socket's path is short
        manager = Manager(f"{folder}/s")
        monkeypatch.setenv("NOTIFY_SOCKET", manager.path)
        yield manager
        manager.close()


@contextmanager
def served(house: House, **env: str) -> Iterator["subprocess.Popen[str]"]:
    log = (house.root / "daemon.log").open("w")
    process = subprocess.Popen(house.kai("serve"), env=house.environment | env, stderr=log, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        log.close()


def test_nobody_is_told_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("", "relative", "/nowhere/at/all"):
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        assert systemd.notify("READY=1") is False


def test_a_manager_that_does_not_read_never_stops_the_service(manager: Manager) -> None:
    while systemd.notify("WATCHDOG=1"):
        pass


def test_a_watchdog_for_another_process_is_none_for_us() -> None:
    assert systemd.watchdog_s({"WATCHDOG_USEC": "3000000"}) == 3.0
    assert systemd.watchdog_s({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}) == 3.0
    assert systemd.watchdog_s({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}) == 0.0
    assert systemd.watchdog_s({}) == 0.0


def test_the_manager_hears_of_the_start_a_reload_the_work_and_the_stop(tmp_path: Path, manager: Manager) -> None:
    with served(House(tmp_path), WATCHDOG_USEC="600000") as process:
        manager.until("READY=1")
        assert "WATCHDOG=1" in manager.heard
        assert any(line.startswith("EXTEND_TIMEOUT_USEC=") for line in manager.heard)
        assert "0 turns run" in manager.until("STATUS=")
        for _ in range(3):
            manager.until("WATCHDOG=1")
        process.send_signal(signal.SIGHUP)
        manager.until("RELOADING=1")
        assert manager.until("MONOTONIC_USEC=").partition("=")[2].isdigit()
        manager.until("READY=1")
        manager.heard.clear()
        manager.until("WATCHDOG=1")
        assert not any(line.startswith("EXTEND") for line in manager.heard), "a ready service needs no more time"
        process.send_signal(signal.SIGTERM)
        manager.until("STOPPING=1")
        manager.until("EXTEND_TIMEOUT_USEC=")
        assert process.wait(LIMIT_S) == 0


def test_a_refused_reload_is_told_in_the_status(tmp_path: Path, manager: Manager) -> None:
    house = House(tmp_path)
    with served(house) as process:
        manager.until("READY=1")
        (house.folders.config / "kai.yaml").write_text("backend: fake\nconext: {}\n")
        process.send_signal(signal.SIGHUP)
        assert "kai.yaml:2:1" in manager.until("STATUS=The last good configuration holds")


async def test_a_refused_configuration_shuts_the_door_until_it_is_mended(tmp_path: Path, manager: Manager) -> None:
    house = House(tmp_path, yaml="conext: {}\n")
    with served(house) as process:
        await anyio.to_thread.run_sync(manager.until, "READY=1")
        assert "kai.yaml:2:1" in await anyio.to_thread.run_sync(manager.until, "STATUS=")
        async with Client(house.folders.runtime / "people.sock") as client:
            with pytest.raises(ApiError, match=r"kai\.yaml:2:1"):
                await client.status()
            assert not (await client.reload())["loaded"]
            (house.folders.config / "kai.yaml").write_text("backend: fake\n")
            assert (await client.reload())["loaded"]
        assert "0 turns run" in await anyio.to_thread.run_sync(manager.until, "turns run")
        async with Client(house.folders.runtime / "people.sock") as client:
            assert (await client.status())["pid"] == process.pid


def test_a_service_that_is_shut_ends_when_it_is_told_to(tmp_path: Path, manager: Manager) -> None:
    with served(House(tmp_path, yaml="conext: {}\n")) as process:
        manager.until("STATUS=")
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0


def test_why_a_service_could_not_start_stays_in_its_status(tmp_path: Path, manager: Manager) -> None:
    house = House(tmp_path)
    house.folders.state.mkdir()
    (house.folders.state / "kai.db").write_text("this is no database")
    with served(house) as process:
        assert "kai.db" in manager.until("STATUS=Failed")
        assert process.wait(LIMIT_S) == 1


def test_a_service_without_its_kai_yaml_takes_no_guess(tmp_path: Path) -> None:
    of_service = Folders(tmp_path, tmp_path, Path("/run/kai"))
    assert any("kai.yaml" in one.file and "no such file" in one.message for one in inspect(of_service).problems)
    own = Folders(tmp_path, tmp_path, Path("/run/user/1/kai"))
    assert inspect(own).problems == ()
