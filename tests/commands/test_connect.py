"""Where a command finds its daemon."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from kai.cli import run
from kai.commands.connect import NotStartedError, ServiceDownError, ask, connected, is_running, start_in_background
from kai.settings.problems import FolderError
from kai.settings.where import Folders, find
from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

pytestmark = pytest.mark.anyio


def flags(folders: list[str]) -> tuple[str, str, str]:
    return folders[1], folders[3], folders[5]


@pytest.fixture
def where(folders: list[str]) -> Folders:
    return find(*flags(folders))


def test_a_running_daemon_is_asked_and_told_for_whom(fake: FakeDaemon, folders: list[str]) -> None:
    fake.canned["GET", "/v1/people"] = (200, [{"name": "Ann"}])
    assert ask(flags(folders), "Ann", lambda client: client.people()) == [{"name": "Ann"}]
    assert fake.asked[-1].headers["kai-as"] == "Ann"


def test_without_one_a_daemon_in_this_process_answers_and_leaves_nothing_running(
    folders: list[str], where: Folders
) -> None:
    found = ask(flags(folders), "", lambda client: client.people())
    assert len(found) == 1
    assert not anyio.run(is_running, where)


async def test_a_socket_that_nobody_listens_on_is_no_daemon(fake: FakeDaemon, where: Folders) -> None:
    assert await is_running(where)
    await anyio.to_thread.run_sync(fake.stop)
    assert not await is_running(where)
    await anyio.to_thread.run_sync(fake.start)


async def test_a_state_folder_that_cannot_be_written_to_is_said(where: Folders, small_disk: Path) -> None:
    where = replace(where, state=small_disk)
    await anyio.run_process(["mount", "-o", "remount,ro", str(small_disk)])
    with pytest.raises(FolderError) as refused:
        await start_in_background(where)
    assert "Read-only file system" in refused.value.sentence
    assert str(small_disk) in refused.value.sentence
    assert "--state" in refused.value.hint


async def test_a_daemon_started_in_the_background_answers_and_outlives_its_starter(where: Folders) -> None:
    async with anyio.create_task_group() as both:  # two at once end up with one daemon
        both.start_soon(start_in_background, where)
        both.start_soon(start_in_background, where)
    async with connected(where) as client:
        pid = (await client.status())["pid"]
    assert pid != os.getpid()
    assert os.getsid(pid) == pid
    os.kill(pid, signal.SIGTERM)
    with anyio.fail_after(10):
        while await is_running(where):  # noqa: ASYNC110 - another process
            await anyio.sleep(0.02)


async def test_a_daemon_that_cannot_start_is_told_with_its_last_words(where: Folders) -> None:
    await anyio.Path(where.config, "kai.yaml").write_text("backnd: auto\n")
    with pytest.raises(NotStartedError, match=r"kai\.yaml:1:1.*did you mean 'backend'") as raised:
        await start_in_background(where)
    assert str(where.state / "kai.log") in raised.value.hint


@pytest.mark.parametrize(
    "words",
    ["doctor", "status", "person list", "backend list", "turn list", "channel list", "history search x", "config show",
        "context preview hi", "turn show", "context show"],
)  # fmt: skip
def test_who_only_looks_leaves_no_folder_behind(tmp_path: Path, words: str) -> None:
    status = run(["--state", str(tmp_path / "s"), "--runtime", str(tmp_path / "r"), *words.split()])
    assert status in (0, 1)
    assert list(tmp_path.iterdir()) == []


def test_a_bad_configuration_is_told_by_every_command_that_needs_a_daemon(kai: Kai, folders: list[str]) -> None:
    Path(folders[1], "kai.yaml").write_text("backnd: auto\n")
    status, out, err = kai("person", "list")
    assert (status, out) == (1, "")
    assert "kai.yaml:1:1" in err


async def test_no_command_starts_a_daemon_beside_a_service_that_is_down(
    where: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Folders, "is_of_service", True)
    for attempt in (start_in_background(where), connected(where).__aenter__()):
        with pytest.raises(ServiceDownError) as refused:
            await attempt
        assert "systemctl start kai" in refused.value.hint
    assert not (where.state / "kai.db").exists()
