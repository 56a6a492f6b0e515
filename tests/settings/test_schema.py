"""From plain data to frozen values: strict types, sentences a person understands, schemas that say the same."""

from dataclasses import fields
from typing import Any

import jsonschema
import pytest

from kai.settings.schema import json_schema, validated, written_settings
from kai.settings.values import About, PersonEntry, Settings, Workspace
from kai.settings.yaml_marks import parse


def _told(text: str, cls: type = Settings) -> str:
    marked = parse(text.encode(), "f")
    assert validated(cls, marked) is None
    (problem,) = marked.problems
    return f"{problem.line}:{problem.column} {problem.path}: {problem.message} ({problem.hint})"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("backend: 5", '1:10 backend: must be text, not 5 (put it in quotes: "5")'),
        ("backend: true", '1:10 backend: must be text, not true (put it in quotes: "true")'),
        ("backend: [a]", "1:10 backend: must be text, not a list ()"),
        ("api: {max_body_bytes: '9'}", '1:23 api.max_body_bytes: must be a whole number, not "9" (write it without'),
        ("queue: {per_channel: 5.5}", "1:22 queue.per_channel: must be a whole number, not 5.5 ()"),
        ("queue: {per_channel: true}", "1:22 queue.per_channel: must be a whole number, not true ()"),
        ("queue: {per_channel: 0}", "1:22 queue.per_channel: must be at least 1, not 0 ()"),
        ("queue: {per_channel: 10001}", "1:22 queue.per_channel: must be at most 10,000, not 10,001 ()"),
        ("queue: 5", "1:8 queue: must be a mapping of settings, not 5 ()"),
        ("queue: {}\nlimits: {turn_s: -1}", "2:18 limits.turn_s: must be at least 0, not -1 ()"),
        ("limits: {turn_s: x}", '1:18 limits.turn_s: must be a number, not "x" ()'),
        ("snapshots: {required: 'x'}", '1:23 snapshots.required: must be true or false, not "x" ()'),
        ("operators: [a, 5]", '1:16 operators[1]: must be text, not 5 (put it in quotes: "5")'),
        ("operators: a", "1:12 operators: must be a list, not \"a\" (write [a, b], or '- a' in lines of their own)"),
        ("permissions: byp", "1:14 permissions: must be one of ask, bypass, not \"byp\" (did you mean 'bypass'?)"),
        ("people: {files: 5}", "1:17 people.files: must be one of inline, deferred, as_owner, not 5"),
        ("log: {levelx: info}", "1:7 log.levelx: unknown setting 'levelx' (did you mean 'level'?)"),
    ],
)
def test_a_wrong_value_is_told_with_its_place_what_is_wanted_and_what_to_do(text: str, told: str) -> None:
    assert _told(text).startswith(told)


def test_a_wrong_member_of_a_choice_of_types_is_told_once() -> None:
    assert _told("accounts: {telegram: [1, [2]]}", PersonEntry).startswith("1:26 accounts.telegram[1]: must be text")


def test_a_missing_setting_is_told_at_what_lacks_it() -> None:
    assert _told("native_files: true", Workspace) == "1:1 path: it is missing (add it)"


def test_a_long_value_is_shown_shortened() -> None:
    assert len(_told(f"permissions: {'x' * 500}")) < 200


def test_a_doubtful_value_is_told_once_and_not_as_a_wrong_type_as_well() -> None:
    told = _told("queue: {per_channel: 0x10}")
    assert told.endswith('0x10 is a number to some readers of YAML (must be a whole number, not "0x10")')


def _shapes(cls: Any) -> list[Any]:
    sections = [each for each in written_settings(cls).values() if not isinstance(each, About)]
    return [cls, *(inner for section in sections for inner in _shapes(section))]


@pytest.mark.parametrize("cls", [*_shapes(Settings), PersonEntry, Workspace])
def test_every_field_is_a_described_setting_a_section_or_filled_in_by_kai(cls: Any) -> None:
    for field in fields(cls):
        about = written_settings(cls).get(field.name)
        assert about is not None or field.metadata.get("filled_in")
        assert not isinstance(about, About) or about.text


@pytest.mark.parametrize(
    ("cls", "text"),
    [
        (Settings, "queue: {per_channel: 0}"), (Settings, "queue: {per_channel: 10001}"), (Settings, "nonsense: 1"),
        (Settings, "persons: []"), (Settings, "permissions: maybe"), (Settings, "backend: 5"),
        (Settings, "context: {history: {messages: many}}"), (Workspace, "native_files: false"),
        (PersonEntry, "accounts: {telegram: [[]]}"), (PersonEntry, "name: ann"),
        (Settings, "context: {now: day}"), (PersonEntry, "accounts: {telegram: [1, x]}"), (Workspace, "path: /x"),
    ],
)  # fmt: skip
def test_the_json_schema_takes_and_refuses_what_loading_does(cls: type, text: str) -> None:
    marked = parse(text.encode(), "f")
    taken = validated(cls, marked) is not None
    assert jsonschema.Draft202012Validator(json_schema(cls)).is_valid(marked.data) is taken
