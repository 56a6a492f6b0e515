"""People as OS users of their own: agents run as them, files reach them and come back, nobody sees another's."""

import json
import os
import pwd
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from kai.model.errors import ApiError
from kai.model.ids import AttachmentRef
from kai.model.messages import InboundMessage
from kai.model.people import Preference
from kai.store import restore
from tests.e2e.house import Kai
from tests.e2e.protected import folders, furnish, settle, speaking
from tests.processes.os_users import PYTHON, Machine, a_machine, needs_root, os_user, root_folder

User = pwd.struct_passwd
pytestmark = [pytest.mark.anyio, needs_root]


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with a_machine([PYTHON]) as one:
        yield one


@pytest.fixture(scope="module")
def den(machine: Machine) -> Iterator[User]:
    """The OS user of a shared channel's seat."""
    with os_user() as user:
        policy = machine.spawner.policy
        machine.spawner.write({**policy, "users": [*policy["users"], user.pw_name]})
        yield user
        machine.spawner.write(policy)


@pytest.fixture
async def kai(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Kai]:
    with root_folder() as root:
        house = await run_sync(furnish, root, machine, monkeypatch)
        async with house.open() as running:
            yield running


@pytest.fixture
def ann(machine: Machine) -> User:
    return machine.alice


@pytest.fixture
def bob(machine: Machine) -> User:
    return machine.bob


async def test_an_agent_runs_as_its_persons_os_user_in_their_own_home(kai: Kai, ann: User) -> None:
    principal = await settle(kai, "Ann", ann)
    async with speaking(kai, "Ann") as hers:
        turn = await hers.ask("FAKE:who")
    home, entry = kai.house.folders.state / "homes" / principal, pwd.getpwnam(ann.pw_name)
    told = json.loads(turn["answer_text"])
    assert told == {"user": ann.pw_name, "home": entry.pw_dir, "cwd": str(home), "groups": [entry.pw_gid]}
    assert (home / "AGENTS.md").owner() == ann.pw_name
    assert home.stat().st_mode & 0o777 == 0o700


async def test_a_backup_holds_every_persons_files_packed_by_themselves_and_a_restore_gives_them_back(
    kai: Kai, ann: User, bob: User, tmp_path: Path
) -> None:
    hers, his = await settle(kai, "Ann", ann), await settle(kai, "Bob", bob)
    homes = kai.house.folders.state / "homes"
    await become(ann.pw_name, f"echo mine > {homes / hers}/note; ln -s /etc/shadow {homes / hers}/link")
    made = await kai.client.backup()
    assert made["left_out"] == []
    target = tmp_path / "state"
    target.mkdir()
    now = kai.daemon.parts.clock.now()
    await run_sync(lambda: restore.restore(target, Path(made["path"]), now, replace=False))
    note = target / "homes" / hers / "note"
    assert (note.read_text(), note.owner()) == ("mine\n", ann.pw_name)
    assert (target / "homes" / hers / "link").is_symlink()
    assert (target / "homes" / his).owner() == bob.pw_name
    assert (target / "homes").stat().st_mode == homes.stat().st_mode


async def test_the_block_carries_what_the_owner_wrote_read_as_the_owner(kai: Kai, ann: User) -> None:
    principal = await settle(kai, "Ann", ann)
    state = kai.house.folders.state
    preferences = state / "preferences" / principal / "PREFERENCES.md"
    await become(ann.pw_name, f"printf 'Call me Captain.' > {preferences}")
    async with speaking(kai, "Ann") as hers:
        turn = await hers.ask("hello")
        text = (await hers.client.context(turn["turn"]))["text"]
    assert "Call me Captain." in text
    assert str(preferences) in text


async def test_a_link_in_place_of_a_persons_file_is_told_and_not_followed(kai: Kai, ann: User) -> None:
    principal = await settle(kai, "Ann", ann)
    state, secret = kai.house.folders.state, kai.house.root / "secret"
    secret.write_text("the operator's secret")
    preferences = state / "preferences" / principal / "PREFERENCES.md"
    await become(ann.pw_name, f"ln -sf {secret} {preferences}; ln -f ~/own {preferences.parent}/x; true")
    async with speaking(kai, "Ann") as hers:
        turn = await hers.ask("hello")
        text = (await hers.client.context(turn["turn"]))["text"]
    assert "the operator's secret" not in text
    assert "Not read, unsafe: a part of its path is a link" in text


async def test_an_upload_reaches_the_agents_user_and_a_file_comes_back(kai: Kai, ann: User) -> None:
    principal = await settle(kai, "Ann", ann)
    async with speaking(kai, "Ann") as hers:
        stored = await hers.client.attach(b"forty-two", "-rf \x1b[31m\nnote.txt", "text/plain")
        sent = InboundMessage("", "shell", "", "", "with-file", "", (AttachmentRef(stored["ref"]),))
        turn = await hers.end(await hers.client.receive(sent))
        home = kai.house.folders.state / "homes" / principal
        (brought,) = (home / ".kai" / "in" / stored["ref"]).iterdir()
        assert (brought.read_bytes(), brought.owner(), brought.stat().st_mode & 0o777) == (
            b"forty-two",
            ann.pw_name,
            0o600,
        )
        assert str(brought) in (await hers.client.context(turn["turn"]))["text"]
        assert (await hers.ask(f"FAKE:write={home}/answer.txt,from-ann"))["answer_text"] == "written"
        channel = turn["channel"]
        back = await hers.client.fetch(channel, "answer.txt")
        assert (back["name"], await hers.client.attachment(back["ref"])) == ("answer.txt", b"from-ann")


@pytest.mark.parametrize(
    ("arrange", "asked", "why"),
    [
        ("ln -s /etc/passwd x", "x", "a part of its path is a link"),
        ("ln -s /etc d", "d/passwd", "a part of its path is a link"),
        ("mkfifo x", "x", "it is not a regular file"),
        ("echo 1 > a; ln a x", "x", "2 names"),
        ("truncate -s 1T x", "x", "larger than"),
        ("true", "../../kai.db", "does not lie below"),
        ("true", "/etc/shadow", "neither in the workspace nor in the home"),
        ("true", "gone", "missing"),
    ],
)
async def test_a_file_that_is_not_plainly_the_persons_own_does_not_come_back(
    kai: Kai, ann: User, arrange: str, asked: str, why: str
) -> None:
    principal = await settle(kai, "Ann", ann)
    await become(ann.pw_name, f"cd {kai.house.folders.state}/homes/{principal} && {arrange}")
    async with speaking(kai, "Ann") as hers:
        channel = (await hers.ask("hello"))["channel"]
        with pytest.raises(ApiError) as caught:
            await hers.client.fetch(channel, asked)
    assert why in str(caught.value)


async def test_one_persons_agent_reaches_nothing_of_anothers_nor_of_kais(kai: Kai, ann: User, bob: User) -> None:
    await settle(kai, "Ann", ann)
    bobs = await settle(kai, "Bob", bob)
    state = kai.house.folders.state
    async with speaking(kai, "Ann") as hers:
        for path in (state / "homes" / bobs / "AGENTS.md", state / "preferences" / bobs / "PREFERENCES.md",
                     state / "kai.db", Path("/etc/shadow"), Path(f"/proc/{os.getpid()}/environ")):  # fmt: skip
            assert (await hers.ask(f"FAKE:read={path}"))["answer_text"] == "cannot: Permission denied", path
    found = await kai.client.probe_person("Ann")
    assert (found["leaks"], found["lacks"], found["problem"]) == (0, 0, ""), found
    assert {row["what"]: row["seen"] for row in found["rows"]}["Bob's preferences"] == "denied"


async def test_a_door_left_open_is_a_leak_in_the_probe_and_a_finding(kai: Kai, ann: User, bob: User) -> None:
    await settle(kai, "Ann", ann)
    bobs = await settle(kai, "Bob", bob)
    (kai.house.folders.state / "preferences" / bobs).chmod(0o755)
    (kai.house.folders.state / "preferences" / bobs / "PREFERENCES.md").chmod(0o644)
    found = await kai.client.probe_person("Ann")
    assert [row["what"] for row in found["rows"] if not row["ok"]] == ["Bob's preferences"]
    names = {(one["name"], one["problem"].partition(":")[0]) for one in await kai.client.doctor()}
    assert "probe-leak" in {name for name, _ in names}


async def test_two_people_talk_in_one_shared_channel_under_the_seats_own_os_user(
    kai: Kai, ann: User, bob: User, den: User
) -> None:
    await settle(kai, "Ann", ann)
    await settle(kai, "Bob", bob)
    family = await kai.client.add_channel("family", den.pw_name, ["Ann"])
    await folders(kai, family["channel"], den, shared=True)
    await kai.client.change_channel("family", {"os_user": den.pw_name})
    await kai.client.member("family", "Bob")
    home = kai.house.folders.state / "homes" / family["channel"]
    assert (home / "AGENTS.md").owner() == den.pw_name
    async with speaking(kai, "Ann") as hers, speaking(kai, "Bob") as his:
        first = await hers.ask("FAKE:who the pump is loud", thread="family")
        second = await his.ask("and now?", thread="family")
        for turn in (first, second):
            assert turn["state"] == "done", turn
        assert json.loads(first["answer_text"])["user"] == den.pw_name
        assert json.loads(first["answer_text"])["cwd"] == str(home)
        assert first["dispatches"][0]["session"] == second["dispatches"][0]["session"]
        text = (await his.client.context(second["turn"]))["text"]
        assert "[About this message: from Bob" in text
        alone = await hers.ask("FAKE:who", thread="main")
        assert json.loads(alone["answer_text"])["user"] == ann.pw_name
    assert (await kai.client.probe_channel("family"))["leaks"] == 0


async def test_a_persons_own_os_user_is_theirs_alone_and_none_that_has_powers(kai: Kai, ann: User) -> None:
    await settle(kai, "Ann", ann)
    for user, why in ((ann.pw_name, "is Ann's already"), ("daemon", "a user of the system's"), ("nobody", "system's")):
        with pytest.raises(ApiError) as caught:
            await kai.client.add_person("Eve", user)
        assert why in str(caught.value)
    with pytest.raises(ApiError) as caught:
        await kai.client.add_channel("club", ann.pw_name, [])
    assert "is Ann's already" in str(caught.value)


async def test_a_private_conversation_takes_no_second_member(kai: Kai, ann: User) -> None:
    await settle(kai, "Ann", ann)
    async with speaking(kai, "Ann") as hers:
        channel = (await hers.ask("hello"))["channel"]
    with pytest.raises(ApiError) as caught:
        await kai.client.member(channel, "root")
    assert "own conversation" in str(caught.value)


async def test_a_deferred_file_is_named_and_the_agent_reads_it_itself(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, ann: User
) -> None:
    with root_folder() as root:
        house = await run_sync(lambda: furnish(root, machine, monkeypatch, files="deferred"))
        async with house.open() as kai:
            principal = await settle(kai, "Ann", ann)
            path = house.folders.state / "preferences" / principal / "PREFERENCES.md"
            await become(ann.pw_name, f"printf 'Call me Captain.' > {path}")
            async with speaking(kai, "Ann") as hers:
                turn = await hers.ask(f"FAKE:read={path}")
                text = (await hers.client.context(turn["turn"]))["text"]
    assert "Captain" not in text
    assert f"(file: {path}):]\nRead this file before you apply preferences; it is yours to read." in text
    assert turn["answer_text"] == "Call me Captain."


@pytest.mark.parametrize("files", ["as_owner", "deferred"])
async def test_in_a_foreign_workspace_the_home_agents_md_goes_along(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, ann: User, bob: User, files: str
) -> None:
    with root_folder() as root:
        for name, owner in (("garden", ann), ("study", bob)):
            (root / name).mkdir(mode=0o700)
            os.chown(root / name, owner.pw_uid, owner.pw_gid)
        workspaces = f"garden: {{path: {root}/garden}}\nstudy: {{path: {root}/study}}\nattic: {{path: {root}/attic}}\n"
        house = await run_sync(lambda: furnish(root, machine, monkeypatch, files=files, workspaces=workspaces))
        async with house.open() as kai:
            principal = await settle(kai, "Ann", ann)
            identity = house.folders.state / "homes" / principal / "AGENTS.md"
            await become(ann.pw_name, f"printf 'You are Gil.' > {identity}")
            async with speaking(kai, "Ann") as hers:
                reasons = {}
                for name in ("study", "attic", "garden"):
                    await hers.client.use(Preference(workspace=name))
                    turn = await hers.ask("FAKE:who")
                    reasons[name] = turn["reason"]
                text = (await hers.client.context(turn["turn"]))["text"]
    assert json.loads(turn["answer_text"])["cwd"] == str(root / "garden")
    assert "this is not your person's home" in text
    assert ("You are Gil." in text) is (files == "as_owner")
    assert (f"Read this file before you answer: {identity}" in text) is (files == "deferred")
    # Told by the run, which may look: not allowed is never taken for absent.
    assert f"{ann.pw_name} may not enter the folder {root}/study" in reasons["study"]
    assert f"{root}/attic does not exist" in reasons["attic"]


async def become(user: str, script: str) -> None:
    """Run a shell script as an OS user, in their home."""
    argv = ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "sh", "-c", f"cd ~{user}; {script}"]
    await anyio.run_process(argv, env={"HOME": pwd.getpwnam(user).pw_dir, "PATH": os.environ["PATH"]})
