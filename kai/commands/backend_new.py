"""``kai backend new``: a folder for an agent that speaks ACP, from a handshake with it."""

import os
import pwd
import re
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click
import yaml

from kai.catalog import manifests
from kai.catalog.discover import discover
from kai.catalog.draft import draft
from kai.clock import SystemClock
from kai.commands.connect import FolderFlags, folders_of, run
from kai.commands.show import lines, patience
from kai.log import set_up
from kai.model.backends import LaunchPlan, Limits, Login, Manifest, ProtocolName
from kai.model.context import Prompt
from kai.model.errors import BadInputError, FailureKind, LaunchError, SessionLostError
from kai.model.events import Ask, Failed, TextDelta
from kai.model.ids import DispatchId, fresh
from kai.processes.direct import DirectLauncher
from kai.processes.environment import search_path
from kai.protocols import transcript
from kai.protocols.session import Session
from kai.protocols.trial import trial
from kai.resources import folder
from kai.wire.values import record, text

PROMPT = "Answer with this one word: hello"
_ID = re.compile(r"[a-z][a-z0-9-]{0,31}")
_README = """# {title}

Protocol `acp`. Written by `kai backend new`: add how it is installed and logged in.

## Versions tried

| version | date | how |
|---|---|---|
| {version} | {date:%Y-%m-%d} | {how}, by `kai backend new` |

{found}

## Quirks

None seen yet.
"""


@dataclass
class Trial:
    """An agent that is tried in an empty folder, as the current user."""

    manifest: Manifest
    place: Path  # where its first process works; its wire file stays there
    clock: SystemClock = field(default_factory=SystemClock)
    said: str = ""
    resumes: bool | None = None
    lost: SessionLostError | None = None

    async def run(self, prompt: bool) -> None:
        """Shake hands; with `prompt` also a turn, and a second process that takes the session up."""
        user, native_id = pwd.getpwuid(os.geteuid()).pw_name, ""
        begin = partial(trial, DirectLauncher(), self.manifest, user, self.clock, keep=True)
        try:
            async with begin(self.place) as (session, _):
                self.said = await _answer(session) if prompt else ""
                native_id = session.native_id
        except SessionLostError as error:
            self.lost = error
            return
        if prompt:
            try:
                async with begin(self.place.with_name(fresh("r")), resume=native_id) as (session, _):
                    self.resumes = session.ready.resumed
            except SessionLostError:
                self.resumes = False

    def write(self, place: Path, *, prompt: bool) -> list[str]:
        """Make the folder `place`; gives what was found, as sentences. Raises `LaunchError` when nothing was."""
        seen = list(transcript.entries(self.place / "wire", self.manifest.limits.line_bytes))
        answers, launch = transcript.answers(seen), self.manifest.launch
        if "initialize" not in answers and _echoes(seen):
            reason = f"{launch.program} only writes back what it is sent: it is no agent that speaks ACP"
            remedy = "Name the agent's program and its arguments: 'kai backend new ID --program PROGRAM -- acp'."
            raise BadInputError("program", reason, remedy)
        if "initialize" not in answers:
            noise = next((one["msg"] for one in seen if one["dir"] == "out" and isinstance(one["msg"], str)), "")
            wrote = f" It wrote {noise[:200]!r}." if noise else ""
            reason = f"it did not answer as an ACP agent does: {self.lost}{wrote}"
            remedy = "Many agents want arguments for it: 'kai backend new ID -- acp', or '-- --acp'."
            raise LaunchError(launch.program, reason.rstrip("."), FailureKind.PROTOCOL, remedy)
        made, found = draft((launch.program, *launch.argv), answers, resumes=self.resumes)
        if launch.pass_env:
            made["launch"]["pass_env"] = list(launch.pass_env)
            made["login"] = made.get("login", {}) | {"env": list(launch.pass_env)}
        version = discover(self.manifest, path=search_path(Path.home()), home=Path.home()).version
        told = text(record(record(answers["initialize"]).get("agentInfo")).get("version"))
        made |= {"version_min": version} if version and told in ("", version) else {}  # else an interpreter's
        if self.lost:
            found.append(f"It gave no session: {self.lost.sentence.rstrip('.')}")
        found += [self.said] if self.said else []
        place.mkdir(parents=True)
        dumped = yaml.safe_dump(made, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True)
        (place / "backend.yaml").write_text(
            f"# Written by 'kai backend new'. See README.md beside this file.\n{dumped}"
        )
        hidden = {name: os.environ.get(name, "") for name in launch.pass_env}
        hidden |= {"HOME": str(Path.home()), "CWD": str(self.place)}
        how = "prompt" if prompt else "handshake"
        (place / f"{how}.jsonl").write_text(transcript.text(seen, hidden))
        listed = "".join(f"* {sentence}.\n" for sentence in found)
        facts = {"title": made["title"], "version": told or version or "unknown", "date": self.clock.now(), "how": how}
        (place / "README.md").write_text(_README.format(**facts, found=listed.strip()))
        return found


def _echoes(seen: list[dict[str, Any]]) -> bool:
    """Whether all that came was what had gone."""
    sent = [one["msg"] for one in seen if one["dir"] == "in"]
    came = [one["msg"] for one in seen if one["dir"] == "out"]
    return bool(came) and all(message in sent for message in came)


async def _answer(session: Session) -> str:
    """The answer to a tiny prompt; questions are denied."""
    said = ""
    async with session.prompt(Prompt(DispatchId(fresh("d")), PROMPT)) as events:
        async for event in events:
            match event:
                case TextDelta(text):
                    said += text
                case Ask(ask):
                    await session.answer(ask, None)
                case Failed(_, sentence):
                    return f"It did not answer: {sentence.rstrip('.')}"
    return f"It answered: {' '.join(said.split())[:80]}"


@click.command()
@click.argument("name", metavar="ID")
@click.argument("argv", nargs=-1, metavar="[-- ARGS…]")
@click.option("--program", default="", help="Its program [default: ID].")
@click.option("--env", multiple=True, metavar="NAME", help="A variable that it needs, such as a key; may be repeated.")
@click.option("--prompt", is_flag=True, help="Also ask it for one word, and take its session up again.")
@click.pass_obj
def command(
    flags: FolderFlags, name: str, argv: tuple[str, ...], program: str, env: tuple[str, ...], prompt: bool
) -> int:
    """Try an agent that speaks ACP, and write backends/ID in the config folder: manifest, README, transcript."""
    config = folders_of(flags).config / "backends"
    place = config / name
    if not _ID.fullmatch(name):
        raise BadInputError("ID", f"{name!r} is no backend's id", "Lower-case letters, digits and '-'.")
    if place.exists() or (folder("backends") / name).exists():
        raise BadInputError("ID", f"there is a backend {name!r} already", f"'kai backend check {name}' tries it.")
    launch = LaunchPlan(str(Path(program).absolute()) if "/" in program else program or name, argv, pass_env=env)
    limits, login = Limits(start_s=60), Login(env=env)
    with tempfile.TemporaryDirectory(prefix="kai-") as own:
        manifest = Manifest(name, name, ProtocolName.ACP, launch, str(place), limits=limits, login=login)
        tried = Trial(manifest, Path(own) / fresh("r"))
        set_up("debug" if os.environ.get("KAI_DEBUG") else "critical")  # the terminal is for what is found
        with patience(f"Waiting for its handshake, {limits.start_s:g} seconds at most…"):
            run(tried.run, prompt)
        found = tried.write(place, prompt=prompt)
    lines(f"{sentence}." for sentence in found)
    manifests.load(folder("backends"), config)  # it says so now, not the daemon later, should it not be sound
    lines([f"Written: {place}"])
    then = f"'kai backend check {name}'" if tried.lost else f"'kai chat --backend {name}'"
    lines([f"{'Log in there, l' if tried.lost else 'L'}ook through it, then 'kai reload' and {then}."])
    return 1 if tried.lost else 0
