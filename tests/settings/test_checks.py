"""What a type cannot say: names, zones, accounts and paths that make sense and do not collide."""

from pathlib import Path

import pytest

from kai.settings.where import Folders
from tests.settings.conftest import Configure


@pytest.mark.parametrize(
    ("people", "told"),
    [
        ("ann: {os_user: Ann}", "ann.os_user: 'Ann' is no OS user's name"),
        ("ann: {os_user: 'ann;rm'}", "is no OS user's name"),
        (
            "ann: {zone: Europe/Berlim}",
            "ann.zone: 'Europe/Berlim' is no IANA time zone (did you mean 'Europe/Berlin'?)",
        ),
        ("ann: {zone: ../../etc/passwd}", "is no IANA time zone (such as Europe/Berlin)"),
        ("ann: {email: ann}", "ann.email: 'ann' is no e-mail address"),
        ("ann: {legacy_chat_id: ../../x}", "ann.legacy_chat_id: it must be the plain name of one folder"),
        ("ann: {legacy_chat_id: '..'}", "ann.legacy_chat_id: it must be the plain name of one folder"),
        ("ann: {accounts: {Tele gram: ['1']}}", "'Tele gram' is no bridge's name"),
        ("ann: {os_user: ann}\nbob: {os_user: ann}", "bob.os_user: OS user 'ann' is ann's already"),
        ("ann: {accounts: {t: [1]}}\nbob: {accounts: {t: ['1']}}", "bob.accounts.t[0]: t account '1' is ann's already"),
        ("ann: {}\nAnn: {}", "Ann: it differs from 'ann' only in capitals"),
        ("a/b: {}", "'a/b' is no name"),
        ("' ann': {}", "' ann' is no name"),
        ("'': {}", "'' is no name"),
        ("ann: {name: x}", "unknown setting 'name'"),
    ],
)
def test_a_person_that_cannot_be_is_an_error(configure: Configure, people: str, told: str) -> None:
    (problem,) = configure(people=people).problems
    assert told in str(problem)
    assert problem.line > 0


def test_the_same_account_in_two_bridges_and_twice_for_one_person_is_fine(configure: Configure) -> None:
    people = "ann: {accounts: {a: [1, '1'], b: [1]}}\nbob: {accounts: {c: [1]}}\n"
    assert configure(people=people + "José: {zone: UTC, legacy_chat_id: '-100123'}\n").problems == ()


def test_nobody_is_an_operator_by_an_empty_list_and_a_wrong_name_is_an_error(configure: Configure) -> None:
    found = configure(kai="operators: []\n")
    assert found.settings is not None
    assert found.settings.operators == ()
    (problem,) = configure(kai="operators: [ann, 'a b']\n").problems
    assert problem.path == "operators[1]"


@pytest.mark.parametrize(
    ("workspaces", "told"),
    [
        ("g: {path: srv/garden}", "g.path: 'srv/garden' is not an absolute path"),
        ("g: {path: ~/garden}", "is not an absolute path"),
        ("g: {path: /srv/../etc}", "is not an absolute path"),
        ("g: {path: /srv/g}\nh: {path: /srv/g/}", "h.path: path '/srv/g' is g's already"),
        ("g: {path: /g, native_files: false}", "g.native_files: switching them off is not built yet"),
        ("g: {path: /g, system_prompt: a, system_prompt_file: prompt.md}", "system_prompt is set as well"),
        ("g: {path: /g, system_prompt_file: gone.md}", "gone.md: there is no such file"),
        ("g: {path: /g, system_prompt_file: /gone.md}", "/gone.md: there is no such file"),
        ("g: {path: /g, system_prompt_file: latin.md}", "latin.md is not UTF-8"),
        ("g: {path: /g, system_prompt_file: huge.md}", "more than 131,072 bytes"),
    ],
)
def test_a_workspace_that_cannot_be_is_an_error(
    configure: Configure, folders: Folders, workspaces: str, told: str
) -> None:
    (folders.config / "prompt.md").write_text("Be kind.")
    (folders.config / "latin.md").write_bytes(b"\xe4")
    (folders.config / "huge.md").write_bytes(b"x" * 200_000)
    (problem,) = configure(workspaces=workspaces).problems
    assert told in str(problem)
    assert problem.line > 0


def test_a_prompt_file_of_the_config_folder_is_read_and_a_persons_own_is_left_to_its_run(
    configure: Configure, folders: Folders, tmp_path: Path
) -> None:
    (folders.config / "prompt.md").write_text("Be kind.")
    (tmp_path / "own.md").write_text("secret")
    own_file = f"h: {{path: /h, system_prompt_file: {tmp_path}/own.md}}"
    found = configure(workspaces=f"g: {{path: /g, system_prompt_file: prompt.md}}\n{own_file}")
    assert found.settings is not None
    garden, own = found.settings.workspaces
    assert (garden.system_prompt, garden.system_prompt_file) == ("Be kind.", "")
    assert (own.system_prompt, own.system_prompt_file) == ("", f"{tmp_path}/own.md")


def test_a_deferred_prompt_file_of_a_person_is_not_even_looked_at(configure: Configure) -> None:
    found = configure(kai="people: {files: deferred}", workspaces="g: {path: /g, system_prompt_file: /gone.md}")
    assert found.problems == ()


def test_two_names_that_look_alike_in_ascii_are_two_workspaces(configure: Configure) -> None:
    found = configure(workspaces="Käse: {path: /srv/Käse}\n日本: {path: /srv/日本}\n")
    assert found.settings is not None
    assert [each.name for each in found.settings.workspaces] == ["Käse", "日本"]
