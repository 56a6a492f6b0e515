"""Manifests: an override says only what differs, and a wrong line is told in the file that it stands in."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kai.catalog.manifests import OPTIONS, QUIRKS, load
from kai.model.backends import Limits, ProtocolName
from kai.settings.problems import ConfigError

GOOD = """\
title: Toy
protocol: acp
launch:
  program: toy
  argv: [--acp]
  model: [-m, "{model}"]
  set_env: {A: "1", B: "{backend_dir}/x"}
  pass_env: [KEY]
  strip_env: [KEY]
can: {resume: true}
limits: {start_s: 60}
options: {mode_bypass: yolo}
models: [a, b]
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a manifest: ``write("toy", text)`` below shipped/, ``write("toy", text, "own")`` below own/."""

    def into(name: str, text: str, folder: str = "shipped") -> Path:
        path = tmp_path / folder / name
        path.mkdir(parents=True, exist_ok=True)
        (path / "backend.yaml").write_text(text)
        return path.parent

    return into


def _told(*folders: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(*folders)
    base = f"{folders[0].parent}/"
    return [str(problem).removeprefix(base) for problem in caught.value.problems]


def test_a_manifest_becomes_a_value_of_the_model(write: Write) -> None:
    folder = write("toy", GOOD)
    manifest = load(folder)["toy"]
    assert (manifest.id, manifest.title, manifest.protocol) == ("toy", "Toy", ProtocolName.ACP)
    assert manifest.folder == str(folder / "toy")
    assert manifest.launch.model == ("-m", "{model}")
    assert manifest.launch.set_env == (("A", "1"), ("B", "{backend_dir}/x"))
    assert (manifest.can.resume, manifest.can.interrupt) == (True, True)
    assert manifest.limits == Limits(start_s=60)
    assert type(manifest.limits) is Limits
    assert manifest.options == (("mode_bypass", "yolo"),)


def test_manifests_come_in_alphabetical_order_and_missing_folders_hold_none(write: Write, tmp_path: Path) -> None:
    write("b", GOOD)
    folder = write("a", GOOD)
    own = write("aa", GOOD, "own")
    assert list(load(folder, own)) == ["a", "aa", "b"]
    assert load(tmp_path / "gone", tmp_path / "gone too") == {}


def test_an_override_merges_mappings_and_replaces_everything_else(write: Write) -> None:
    folder = write("toy", GOOD)
    own = write(
        "toy", "launch: {argv: [--other], set_env: {A: '2'}, strip_env: []}\nlimits: {turn_s: 5}\nmodels: [c]", "own"
    )
    manifest = load(folder, own)["toy"]
    assert manifest.launch.program == "toy"
    assert manifest.launch.argv == ("--other",)
    assert manifest.launch.set_env == (("A", "2"), ("B", "{backend_dir}/x"))
    assert manifest.launch.strip_env == ()
    assert manifest.limits == Limits(start_s=60, turn_s=5)
    assert manifest.models == ("c",)
    assert manifest.folder == str(folder / "toy")  # its files are the shipped ones


def test_a_wrong_line_is_told_in_the_file_that_it_stands_in(write: Write) -> None:
    folder = write("toy", GOOD)
    own = write("toy", "launch:\n  argvv: []\nlimits: {turn_s: x}\nquirks: [no such]\n", "own")
    assert _told(folder, own) == [
        "own/toy/backend.yaml:2:3: launch.argvv: unknown setting 'argvv' (did you mean 'argv'?)",
        'own/toy/backend.yaml:3:18: limits.turn_s: must be a number, not "x"',
    ]
    write("toy", "options: {mode_bypas: x}\n", "own")
    assert _told(folder, own) == [
        "own/toy/backend.yaml:1:11: options.mode_bypas: unknown option 'mode_bypas' (did you mean 'mode_bypass'?)"
    ]
    write("toy", "launch:\n  argv:\n    - '{modelx}'\n", "own")
    assert _told(folder, own)[0].startswith("own/toy/backend.yaml:2:3: launch.argv: {modelx} is not filled in here")
    write("toy", GOOD.replace("[--acp]", '["{modelx}"]'))
    write("toy", "title: Mine\n", "own")
    assert _told(folder, own) == [
        "shipped/toy/backend.yaml:5:3: launch.argv: {modelx} is not filled in here (known: {backend_dir}, {python})"
    ]


def test_an_override_that_is_no_yaml_does_not_hide_the_problems_of_the_others(write: Write) -> None:
    folder = write("toy", GOOD.replace("title", "titlex"))
    own = write("toy", "a: b: c\n", "own")
    told = _told(folder, own)
    assert told[0].startswith("own/toy/backend.yaml:1:5: this is not YAML")
    assert told[1].startswith("shipped/toy/backend.yaml:1:1: titlex: unknown setting")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("title: Toy\n", ""), "backend.yaml:1:1: title: it is missing"),
        (("acp", "acpp"), "protocol: must be one of stream_json, app_server, pi_rpc, acp, not"),
        (("can: {resume", "can: {resmue"), "can.resmue: unknown setting 'resmue' (did you mean 'resume'?)"),
        (("start_s: 60", "start_s: -1"), "limits.start_s: must not be negative"),
        (("{model}", "{effort}"), "launch.model: {effort} is not filled in here"),
        (('"{model}"', "x"), "launch.model: {model} does not occur in it"),
        (("A: ", "A-B: "), "launch.set_env.A-B: 'A-B' is no name of an environment variable"),
        (("{backend_dir}/x", "{home}/x"), "launch.set_env.B: {home} is not filled in here"),
        (("pass_env: [KEY]", "pass_env: []"), "launch.strip_env[0]: KEY is not passed on anyway"),
        (("models: [a, b]", "version_min: newest"), "version_min: 'newest' is no version"),
        (("models: [a, b]", "version_min: 2.1"), "version_min: must be text, not 2.1 (put it in quotes"),
        (("models: [a, b]", "models: [a, 5]"), "models[1]: must be text, not 5"),
        (("models: [a, b]", "quirks: [latches_logn]"), "unknown quirk 'latches_logn' (did you mean 'latches_login'?)"),
        (("models: [a, b]", "login: {files: [/etc/passwd]}"), "'/etc/passwd' is not below the home folder"),
        (("models: [a, b]", "login: {files: [../x]}"), "'../x' is not below the home folder"),
        (("models: [a, b]", "home_files: [x]"), "unknown setting 'home_files'"),
        (("models: [a, b]", "id: toy"), "unknown setting 'id'"),
        (("models: [a, b]", "window_tokens: -1"), "window_tokens: must be at least 0"),
    ],
)
def test_a_manifest_that_would_fail_later_is_refused_at_once(write: Write, change: tuple[str, str], told: str) -> None:
    (line,) = _told(write("toy", GOOD.replace(*change)))
    assert told in line
    assert line.split(":")[1].isdigit()


def test_json_in_the_value_of_a_variable_is_no_placeholder(write: Write) -> None:
    text = GOOD.replace('"{backend_dir}/x"', '\'{"edit":"ask","bash":"ask"}\'')
    assert load(write("toy", text))["toy"].launch.set_env[1] == ("B", '{"edit":"ask","bash":"ask"}')


def test_a_folder_without_a_manifest_or_with_a_name_that_is_none_is_a_problem(write: Write, tmp_path: Path) -> None:
    folder = write("toy", GOOD)
    (folder / "empty").mkdir()
    (folder / "Bad Name").mkdir()
    (folder / "README.md").touch()
    assert _told(folder) == [
        "shipped/Bad Name: 'Bad Name' is no backend's id (lower-case letters, digits, '-')",
        "shipped/empty/backend.yaml: there is no such file",
    ]


def test_the_closed_lists_hold_only_what_some_code_reads() -> None:
    source = "".join(path.read_text() for path in Path("kai").rglob("*.py") if path.name != "manifests.py")
    assert [name for name in QUIRKS if f'"{name}"' not in source] == []
    read = ("mode_", "config_", *OPTIONS)
    assert [
        n for n in OPTIONS if f'"{n}"' not in source and not any(n.startswith(p) and f'f"{p}{{' in source for p in read)
    ] == []


_lines = st.lists(
    st.sampled_from([*GOOD.splitlines(), "  x: 1", "launch:", "- a", "can: no", "title: [", "\t", "{"]), max_size=12
)


@given(_lines, _lines)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_no_pair_of_files_makes_loading_raise_anything_but_a_config_error(
    write: Write, one: list[str], other: list[str]
) -> None:
    folder, own = write("toy", "\n".join(one)), write("toy", "\n".join(other), "own")
    try:
        load(folder, own)
    except ConfigError as error:
        told = error.problems
        if not told or not all(problem.message for problem in told):
            raise AssertionError from error
