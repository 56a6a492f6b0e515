"""The two faces where every person has an OS user of their own: by the real spawner, with real users."""

import json
import subprocess
from functools import partial
from typing import Any

import pytest
from anyio.to_thread import run_sync

from kai.client import Client
from kai.resources import module_file
from tests.e2e.house import House, Kai
from tests.e2e.test_agents_face import REACH
from tests.e2e.test_os_users import as_person, house, machine, provision
from tests.processes.os_users import PYTHON, Machine, needs_root

__all__ = ["house", "machine"]
pytestmark = [pytest.mark.anyio, needs_root]


def open_up(one: Kai, scripts: dict[str, str]) -> None:
    """As the service has it: whoever connects is told by the kernel. And scripts that every agent can read."""
    runtime, sessions = one.house.folders.runtime, one.house.root / "sessions"
    for folder in (one.house.root, sessions, runtime):
        folder.chmod(folder.stat().st_mode | 0o055)
    for name in ("people.sock", "agents.sock"):
        (runtime / name).chmod(0o666)
    for name, text in scripts.items():
        (sessions / name).write_text(text)
        (sessions / name).chmod(0o644)


async def inside(one: Kai, client: Client, work: str) -> Any:
    """What the Python expression `work` gives inside a run of the client's person."""
    await run_sync(open_up, one, {"attack.py": REACH, "go.py": f"from attack import *\nprint(json.dumps({work}))\n"})
    turn = await one.ask("FAKE:script=go.py", client=client)
    assert turn["state"] == "done", (turn["reason"], turn["detail"])
    return json.loads(turn["answer_text"])


async def test_an_agent_is_its_run_as_whatever_os_user_and_never_a_person(house: House, machine: Machine) -> None:
    """The attacks: as a person on the people's socket; orphaned and without environment; with the other's mark."""
    async with house.open() as one:
        await provision(one)
        people = str(one.daemon.socket)
        who = "reach(agents, 'GET', '/v1/agent/whoami')"
        plainly = f"reach({str(one.daemon.parts.socket)!r}, 'GET', '/v1/agent/whoami')"
        hid = f"hidden({plainly!r})"
        person = f"reach({people!r}, 'GET', '/v1/people')"
        for name in ("alice", "bob"):
            async with as_person(one, name) as client:
                own, orphan, plain, gone = await inside(one, client, f"[{who}, {hid}, {person}, hidden({person!r})]")
                assert json.loads(own[1])["person"] == name
                assert orphan == own
                for status, body in (plain, gone):
                    assert (status, "is no person" in body) == (403, True)
                assert (await run_sync(partial(outside, one, machine, name, "agents.sock", "/v1/agent/whoami")))[
                    0
                ] == 403
        runs = {live.channel: live for live in one.daemon.parts.live_runs._live.values()}
        assert {live.uid for live in runs.values()} == {machine.alice.pw_uid, machine.bob.pw_uid}
        (bobs,) = [live.run for live in runs.values() if live.uid == machine.bob.pw_uid]
        async with as_person(one, "alice") as client:
            forged = f"(os.environ.update(KAI_RUN={bobs!r}), {who})[1]"
            assert json.loads((await inside(one, client, forged))[1])["person"] == "alice"


async def test_over_mcp_the_agent_of_each_os_user_has_the_memory_of_its_person(house: House, machine: Machine) -> None:
    """No token: the process alone tells. The attack: name the other person, and a record of theirs."""
    pump = await run_sync(lambda: module_file("commands/mcp_pump.py").read_text())

    async def called(one: Kai, client: Client, name: str, **arguments: Any) -> Any:
        params = {"name": name, "arguments": arguments}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        await run_sync(open_up, one, {"pump.py": pump})
        argv = "[sys.executable, '-I', '-S', os.path.dirname(sys.modules['attack'].__file__) + '/pump.py']"
        work = f"__import__('subprocess').run({argv}, input={line.encode()!r}, capture_output=True).stdout.decode()"
        return json.loads(json.loads(await inside(one, client, work))["result"]["content"][0]["text"])

    async with house.open() as one:
        await provision(one)
        async with as_person(one, "alice") as alice, as_person(one, "bob") as bob:
            saved = await called(one, alice, "memory_save", text="the safe is behind the painting")
            assert saved["outcome"] == "committed"
            theirs = (await alice.memory("records", {}))[0]
            assert (theirs["text"], await bob.memory("records", {})) == ("the safe is behind the painting", [])
            found = await called(one, bob, "memory_search", query="safe", principal=theirs["owner"], person="alice")
            assert (found["status"], found["hits"]) == ("empty", [])
            refused = await called(one, bob, "memory_forget", record=theirs["record"], base=1)
            assert (refused["outcome"], refused["reason"]) == ("rejected", "unknown")
            assert (await called(one, alice, "memory_search", query="safe"))["hits"][0]["record"] == theirs["record"]


async def test_a_persons_own_shell_is_that_person_and_no_operator(house: House, machine: Machine) -> None:
    async with house.open() as one:
        await provision(one)
        await run_sync(open_up, one, {"attack.py": REACH})
        status, body = await run_sync(partial(outside, one, machine, "bob", "people.sock", "/v1/people"))
        assert (status, [person["name"] for person in json.loads(body)]) == (200, ["bob"])
        for path in ("/v1/doctor", "/v1/config"):
            assert (await run_sync(partial(outside, one, machine, "bob", "people.sock", path)))[0] == 403


def outside(one: Kai, machine: Machine, name: str, socket: str, path: str) -> tuple[int, str]:
    """What a process of the person's user, in no run, gets."""
    user = {"alice": machine.alice, "bob": machine.bob}[name]
    where = str(one.house.folders.runtime / socket)
    code = f"import sys; sys.path.insert(0, {str(one.house.root / 'sessions')!r}); from attack import *\n"
    code += f"print(json.dumps(reach({where!r}, 'GET', {path!r})))"
    done = subprocess.run(
        [PYTHON, "-I", "-c", code], capture_output=True, text=True, user=user.pw_uid, group=user.pw_gid, cwd="/",
        extra_groups=[], check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    status, body = json.loads(done.stdout)
    return status, body
