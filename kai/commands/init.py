"""``kai init``."""

import os
import pwd
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import click

from kai.catalog.discover import AT_ONCE, discover
from kai.catalog.manifests import load
from kai.client import Client, View
from kai.commands.connect import folders_of
from kai.commands.show import ASKS_VERSIONS, own_command, patience
from kai.commands.verb import Verb, verb
from kai.processes.environment import search_path
from kai.resources import folder


@click.command()
@click.option("--name", default="", help="Your name [default: that of your OS user].")
@verb
def command(how: Verb, name: str) -> None:
    """First run: find agent CLIs, write a commented config, make the first person. Overwrites nothing."""
    path = folders_of(how.flags).config / "kai.yaml"
    is_new = write_config(path)
    backends = _installed()
    person, kai = how.ask(lambda client: _first_person(client, name)), own_command()
    told = [
        f"{'wrote' if is_new else 'kept '}  {path}",
        *(
            f"{'no   ' if backend['problem'] else 'found'}  {backend['title']}: {_about(backend)}"
            for backend in backends
        ),
        f"you    {person['name']} (OS user {person['os_user']})",
        f"\nNext: '{kai} chat' to talk, '{kai} doctor' to check, '{kai} serve' to run the daemon yourself.",
    ]
    how.lines({"config": str(path), "is_new": is_new, "backends": backends, "person": person}, told)


def commented() -> str:
    """A kai.yaml that says every setting and sets none."""
    lines = (folder("config") / "kai.example.yaml").read_text().split("\n")
    # A default that stood in the file would stay when a later version has a better one.
    return "\n".join(f"#{line}" if line and not line.lstrip().startswith("#") else line for line in lines)


def write_config(path: Path) -> bool:
    """Write a `commented` kai.yaml; False when there is a file already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w") as file:
        file.write(commented())
    return True


def _installed() -> list[View]:
    """Every backend, and whether this user can use it."""
    home, found, manifests = Path.home(), [], load(folder("backends")).values()
    look = partial(discover, path=search_path(home), home=home)
    with patience(ASKS_VERSIONS), ThreadPoolExecutor(AT_ONCE) as threads:
        looked = list(threads.map(look, manifests))
    for manifest, there in zip(manifests, looked, strict=True):
        view = {"id": manifest.id, "title": manifest.title, "version": there.version, "logged_in": there.logged_in}
        found.append({**view, "login": manifest.login.command, "problem": there.problem})
    return found


def _about(backend: View) -> str:
    if backend["problem"]:
        return str(backend["problem"])
    has_no_login = backend["logged_in"] is False and backend["login"]
    login = f"; log in with 'kai backend login {backend['id']}'" if has_no_login else ""
    return f"{backend['version'] or 'version unknown'}{login}"


async def _first_person(client: Client, name: str) -> View:
    """The person of this OS user: the daemon makes one when it knows nobody."""
    everybody = await client.people()
    own = [one for one in everybody if one["is_you"]]
    person = own[0] if own else await client.add_person(name or pwd.getpwuid(os.geteuid()).pw_name)
    if own and name and len(everybody) == 1 and person["name"] != name:
        return await client.change_person(person["principal"], {"name": name})
    return person
