"""The config folder as one value: all problems of all files at once, each with its place and what to do."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kai.settings.load import KNOWN_FILES, inspect, load
from kai.settings.problems import ConfigError
from kai.settings.values import PersonEntry, Settings
from kai.settings.where import Folders
from tests.settings.conftest import Configure


def test_an_empty_folder_gives_the_defaults(folders: Folders) -> None:
    assert load(folders) == Settings()


def test_a_default_folder_may_be_missing_but_a_chosen_one_may_not(folders: Folders, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert load(Folders(gone, folders.state, folders.runtime, config_from="default")) == Settings()
    with pytest.raises(ConfigError, match=r"there is no such folder \(from \$KAI_CONFIG\)"):
        load(Folders(gone, folders.state, folders.runtime, config_from="$KAI_CONFIG"))


def test_what_a_file_says_holds_and_its_place_is_kept(configure: Configure, folders: Folders) -> None:
    found = configure(
        kai="backend: claude\ncontext:\n  history:\n    messages: 10\noperators: [root]\nsessions: {idle_s: 60}\n",
        people="ann:\n  os_user: ann\n  accounts: {telegram: [1, '2', -1001234567890]}\nbob:\n",
        workspaces="garden:\n  path: /srv/garden\n",
    )
    settings = found.settings
    assert settings == load(folders)
    assert settings is not None
    assert (settings.backend, settings.context.history.messages, settings.operators) == ("claude", 10, ("root",))
    assert settings.sessions.idle_s == 60.0
    ann = settings.person("ann")
    assert ann is not None
    assert tuple(map(str, ann.accounts["telegram"])) == ("1", "2", "-1001234567890")
    assert settings.person("bob") == PersonEntry(name="bob")
    garden = settings.workspace("garden")
    assert garden is not None
    assert garden == settings.workspace("/srv/garden")
    assert str(found.places["context.history.messages"]) == f"{folders.config}/kai.yaml:4:15"
    assert str(found.places["persons.ann.os_user"]) == f"{folders.config}/people.yaml:2:12"


def test_the_problems_of_all_files_come_at_once_in_reading_order(configure: Configure, folders: Folders) -> None:
    found = configure(
        kai="backend: 5\ncontext:\n  historyx: {}\n  block_cap_bytes: 1\nmemory: {enabled: 1}\nbackend: x\n",
        people="no:\n  os_user: ann\nann:\n  os_user: 0123\n",
        workspaces="garden: {}\n",
    )
    assert found.settings is None
    assert [str(problem).removeprefix(f"{folders.config}/") for problem in found.problems] == [
        "kai.yaml:3:3: context.historyx: unknown setting 'historyx' (did you mean 'history'?)",
        "kai.yaml:4:20: context.block_cap_bytes: must be at least 4,096, not 1",
        "kai.yaml:5:19: memory.enabled: must be true or false, not 1",
        "kai.yaml:6:1: backend: 'backend' is set twice (first in line 1)",
        'people.yaml:1:1: no: no is true or false to some readers of YAML (put it in quotes: "no", or write false)',
        'people.yaml:4:12: ann.os_user: 0123 is a number to some readers of YAML (put it in quotes: "0123")',
        "workspaces.yaml:1:9: garden.path: it is missing (add it)",
    ]


def test_a_config_error_tells_the_first_problem_and_how_many_more(configure: Configure, folders: Folders) -> None:
    configure(kai="a: 1\nb: 2\nc: 3\n")
    with pytest.raises(ConfigError) as caught:
        load(folders)
    assert caught.value.sentence.startswith(f"{folders.config}/kai.yaml:1:1: a: unknown setting 'a'")
    assert caught.value.sentence.endswith("(and 2 more)")
    assert "kai check-config" in caught.value.hint
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("name", [name.removesuffix(".yaml") for name in KNOWN_FILES])
@pytest.mark.parametrize("text", ["- a\n", "text\n", "5\n"])
def test_a_file_that_is_no_mapping_is_an_error(configure: Configure, name: str, text: str) -> None:
    (problem,) = configure(**{name: text}).problems
    assert "mapping" in problem.message
    assert (problem.line, problem.column) == (1, 1)


def test_a_section_whose_lines_are_all_commented_out_stands_for_its_defaults(configure: Configure) -> None:
    assert configure(kai="context:\n#  now: day\nlog:\n").settings == Settings()


def test_a_setting_without_a_value_is_an_error(configure: Configure) -> None:
    (problem,) = configure(kai="backend:\n").problems
    assert (problem.path, problem.message) == ("backend", "it is empty")


@pytest.mark.parametrize("name", ["persons", "workspaces", "name"])
def test_what_kai_fills_in_itself_cannot_be_set(configure: Configure, name: str) -> None:
    (problem,) = configure(kai=f"{name}: []\n").problems
    assert problem.message == f"unknown setting {name!r}"


@pytest.mark.parametrize(
    ("name", "told"), [("people.yml", "'people.yaml'"), ("peple.yaml", "'people.yaml'"), ("services.yaml", "not built")]
)
def test_a_file_that_nobody_would_read_is_an_error(folders: Folders, name: str, told: str) -> None:
    (folders.config / name).touch()
    (problem,) = inspect(folders).problems
    assert problem.file == str(folders.config / name)
    assert told in str(problem)


def test_examples_and_other_files_beside_the_settings_are_nobodys_business(folders: Folders) -> None:
    for name in ("kai.example.yaml", "kai.schema.json", "README.md"):
        (folders.config / name).write_text("{")
    assert inspect(folders).problems == ()


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_what_stands_in_the_place_of_a_file_is_named(folders: Folders, kind: str) -> None:
    path = folders.config / "people.yaml"
    if kind == "link":
        path.symlink_to("gone.yaml")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    (problem,) = inspect(folders).problems
    told = {"link": "a link to gone.yaml, which is not there", "folder": "regular file", "fifo": "regular file"}
    assert problem.file == str(path)
    assert told[kind] in problem.message


def test_a_config_folder_that_is_a_file_is_named(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = inspect(Folders(tmp_path / "file", folders.state, folders.runtime))
    assert found.settings is None
    assert found.problems[0].file == str(tmp_path / "file")


_texts = st.text(alphabet=st.sampled_from(list("anbekd:-[]{}, \n\t'\"0159.&*!|#é")), max_size=50)


@given(st.dictionaries(st.sampled_from(KNOWN_FILES), st.one_of(_texts.map(str.encode), st.binary(max_size=60))))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_files_make_loading_raise_anything(folders: Folders, files: dict[str, bytes]) -> None:
    for name in KNOWN_FILES:
        (folders.config / name).write_bytes(files.get(name, b""))
    found = inspect(folders)
    assert (found.settings is None) == bool(found.problems)
    assert all(problem.file.startswith(str(folders.config)) for problem in found.problems)


def test_the_mend_of_a_doubtful_value_names_what_belongs_there(configure: Configure) -> None:
    found = configure(kai="permissions: yes\nsessions:\n  max_live: .nan\nlog: {level: x}\n")
    told = [str(each).partition("kai.yaml:")[2] for each in found.problems]
    assert told == [
        '1:14: permissions: yes is true or false to some readers of YAML (must be one of ask, bypass, not "yes")',
        '3:13: sessions.max_live: .nan is a number to some readers of YAML (must be a whole number, not ".nan")',
        '4:14: log.level: must be one of debug, info, warning, error, not "x"',
    ]
    found = configure(kai="sessions: {max_live: 999999999999999999999999}\n")
    assert "quotes" not in str(found.problems[0])
