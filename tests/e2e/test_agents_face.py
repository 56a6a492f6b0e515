"""From inside a run: what an agent reaches, and everything it tries beyond that."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from kai.client import Client
from kai.model.errors import ApiError
from kai.model.ids import RunId
from tests.e2e.house import FAKES, House, Kai

pytestmark = pytest.mark.anyio

# Speaks HTTP on a socket from within a run; `how` hides the process first.
REACH = """
import json, os, socket, sys
from http.client import HTTPConnection

class Unix(HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)

def reach(where, method, path, body=None, **headers):
    link = Unix(where, timeout=10)
    data = None if body is None else json.dumps(body)
    link.request(method, path, data, {"content-type": "application/json", **headers})
    answer = link.getresponse()
    return [answer.status, answer.read().decode()]

def hidden(work):
    "Run work in an orphan without environment and with a session of its own; gives what it returned."
    ours, theirs = os.pipe()
    if (child := os.fork()):
        os.waitpid(child, 0)
        os.close(theirs)
        with os.fdopen(ours) as got:
            return json.loads(got.read())
    os.setsid()
    if os.fork():
        os._exit(0)
    code = "import sys; sys.path.insert(0, sys.argv[1]); from attack import *; "
    code += "os.write(int(sys.argv[2]), json.dumps(eval(sys.argv[3])).encode())"
    os.set_inheritable(theirs, True)
    os.execve(sys.executable, [sys.executable, "-c", code, os.path.dirname(__file__), str(theirs), work], {})

agents = os.environ.get("KAI_SOCKET", "")
people = os.path.join(os.path.dirname(agents), "people.sock")
"""


def token_file(kai: Kai, run: RunId) -> Path:
    file = kai.daemon.parts.live_runs.token_file(run)
    assert file is not None
    return file


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in the code under test
            await anyio.sleep(0.01)


async def inside(kai: Kai, work: str, prompt: str = "") -> Any:
    """What the Python expression `work` gives inside a run."""
    folder = anyio.Path(kai.house.root / "sessions")
    await (folder / "attack.py").write_text(REACH)
    await (folder / "go.py").write_text(f"from attack import *\nprint(json.dumps({work}))\n")
    turn = await kai.ask(f"FAKE:script=go.py {prompt}")
    assert turn["state"] == "done", turn
    return json.loads(turn["answer_text"])


@pytest.mark.parametrize("backend", [name for _, name in FAKES])
async def test_an_agent_of_every_protocol_calls_the_tools_of_its_run(tmp_path: Path, backend: str) -> None:
    async with House(tmp_path, backend=backend).open() as kai:
        await kai.ask("the greenhouse pump hums")
        await kai.ask("a pump elsewhere", thread="other")
        turn = await kai.ask("FAKE:run=kai_tool_history-search_pump")
        status, _, answer = turn["answer_text"].partition(": ")
        assert status == "0", answer
        found = {one["text"]: one.get("channel") for one in json.loads(answer)["messages"]}
        assert found["the greenhouse pump hums"] is None
        assert found["a pump elsewhere"] == "other", "a person's private conversations are one past"
        assert len(turn["tool_lines"]) == 1
        assert turn["tool_lines"][0].endswith(": ok")
        shown = await kai.ask("FAKE:run=kai_tool_turn-show")
        facts = json.loads(shown["answer_text"].partition(": ")[2])
        assert (facts["channel"], facts["turn"]["state"]) == ("main", "running")


async def test_a_refusal_is_a_sentence_and_an_exit_status(kai: Kai) -> None:
    turn = await kai.ask("FAKE:run=kai_tool_history-read_--limit_900")
    assert turn["answer_text"].startswith("1: kai: limit")
    assert "whole number from 1 to 50" in turn["answer_text"]
    assert turn["answer_text"].count("Traceback") == 0


async def test_a_process_of_a_run_is_no_person_however_it_hides(kai: Kai) -> None:
    """The attack: speak on the people's socket, plainly; then orphaned, without a mark, in a session of its own."""
    work = f"reach({str(kai.daemon.socket)!r}, 'GET', '/v1/people')"
    plain, hidden = await inside(kai, f"[{work}, hidden({work!r})]")
    for status, body in (plain, hidden):
        assert status == 403
        assert "is no person" in body


async def test_an_orphan_without_environment_still_has_its_own_scope_and_no_other(kai: Kai) -> None:
    await kai.ask("hello pelican")
    socket = str(kai.daemon.parts.socket)
    work = f"reach({socket!r}, 'POST', '/v1/tools/history_search', {{'query': 'pelican'}})"
    status, body = await inside(kai, f"hidden({work!r})")
    assert status == 200
    assert "hello pelican" in body


async def test_no_field_that_names_somebody_has_an_effect(kai: Kai) -> None:
    """The attack: an agent that was talked into it names another person, channel, audience, mode and scope."""
    await kai.client.add_person("Bob")
    async with Client(kai.daemon.socket, as_person="Bob") as bob:
        said = await kai.end(await kai.say("bob's secret word", client=bob, external_id="b1"))
    await kai.ask("my own secret word")
    other, person = said["channel"], said["principal"]
    fields = {"query": "secret word", "channel": other, "principal": person, "person": "Bob", "audience": [person]}
    fields |= {"mode": "operator", "scope": "*", "scopes": ["*"], "run": "r-x", "as": "Bob", "os_user": "root"}
    attack = f"reach(agents, 'POST', '/v1/tools/history_search', {fields!r}, **{{'kai-as': 'Bob'}})"
    plain = "reach(agents, 'POST', '/v1/tools/history_search', {'query': 'secret word'})"
    (status, body), (plain_status, plain_body) = await inside(kai, f"[{attack}, {plain}]")
    assert (status, plain_status) == (200, 200)
    assert body == plain_body
    assert "bob's" not in body


async def test_a_run_cannot_take_the_mark_or_the_token_of_its_neighbour(kai: Kai) -> None:
    """The attack: with the same OS user, copy the other run's mark, name its files, bear its token."""
    await kai.client.add_person("Bob")
    async with Client(kai.daemon.socket, as_person="Bob") as bob:
        await kai.end(await kai.say("bob's secret word", client=bob, external_id="b1"))
    (bobs,) = kai.daemon.parts.live_runs._live.values()
    token = token_file(kai, bobs.run)
    assert await anyio.Path(token).exists()
    tries = [
        f"reach(agents, 'GET', '/v1/agent/whoami', authorization='Bearer ' + open({str(token)!r}).read())",
        f"(os.environ.update(KAI_RUN={bobs.run!r}), reach(agents, 'GET', '/v1/agent/whoami'))[1]",
        "reach(agents, 'GET', '/v1/agent/whoami')",
    ]
    stolen, marked, own = await inside(kai, f"[{', '.join(tries)}]")
    assert stolen[0] == 403
    assert marked == own
    assert json.loads(own[1])["run"] != bobs.run


async def test_the_token_lets_in_a_process_that_tells_nothing_by_itself(kai: Kai) -> None:
    """Outside of the run's tree, as where other users' processes are hidden and there are no control groups."""
    await kai.ask("hello")
    (live,) = kai.daemon.parts.live_runs._live.values()
    token = (await anyio.Path(token_file(kai, live.run)).read_text()).strip()
    env = {"PATH": os.environ["PATH"], "KAI_SOCKET": str(kai.daemon.parts.socket), "PYTHONPATH": str(Path.cwd())}
    argv = kai.house.kai("tool", "turn_show")
    refused = await anyio.run_process(argv, env=env, check=False)
    assert refused.returncode == 1
    assert b"this socket is for agents" in refused.stderr
    env["KAI_RUN_FILE"] = str(token_file(kai, live.run))
    let_in = await anyio.run_process(argv, env=env, check=False)
    assert json.loads(let_in.stdout)["channel"] == "main"
    await kai.say("/new")
    await until(lambda: not kai.daemon.parts.live_runs._live)
    env["KAI_RUN_FILE"] = str(kai.house.root / "kept")
    await anyio.Path(env["KAI_RUN_FILE"]).write_text(token)
    ended = await anyio.run_process(argv, env=env, check=False)
    assert ended.returncode == 1


async def test_the_token_is_in_no_argument_environment_log_or_prompt(
    kai: Kai, capfd: pytest.CaptureFixture[str]
) -> None:
    turn = await kai.ask("FAKE:run=kai_tool_turn-show")
    (live,) = kai.daemon.parts.live_runs._live.values()
    token = await anyio.Path(token_file(kai, live.run)).read_text()
    pid = int(re.findall(r"pid (\d+)", (await kai.ask("FAKE:pid"))["answer_text"])[0])
    for pids in (pid, os.getpid()):
        for name in ("cmdline", "environ"):
            assert token.encode() not in await anyio.Path(f"/proc/{pids}/{name}").read_bytes()
    assert b"KAI_RUN_FILE=" in await anyio.Path(f"/proc/{pid}/environ").read_bytes()
    assert token not in (await kai.client.context(turn["turn"], why=True))["text"]
    assert token not in kai.house.log.read_text()
    assert token.encode() not in (kai.house.folders.state / "kai.db").read_bytes()
    said = capfd.readouterr()
    assert token not in said.out + said.err


async def test_a_person_who_is_removed_hears_no_more_on_a_stream_that_is_open(kai: Kai) -> None:
    """The attack: keep the stream of a turn open over the end of one's rights."""
    await kai.client.add_person("Bob")
    async with Client(kai.daemon.socket, as_person="Bob") as bob:
        said = await kai.say("FAKE:slow=400,0.02", client=bob, external_id="b1")
        heard: list[dict[str, Any]] = []

        async def listen() -> None:
            async for event in bob.events(said.turn or ""):
                heard.append(event)
                if len(heard) == 3:
                    await kai.client.remove_person("Bob")

        with pytest.raises(ApiError), anyio.fail_after(10):
            await listen()
        assert heard[-1]["type"] != "end"


async def test_after_the_turn_its_files_of_the_run_are_gone(kai: Kai) -> None:
    await kai.ask("hello")
    await kai.say("/new")
    await until(lambda: not list(kai.daemon.parts.runs.iterdir()))
