"""What the magic words mean."""

import json

import pytest

from tests.stub_model.conversation import Conversation
from tests.stub_model.plans import Answer, Ending, Fault, Silence, UseTool
from tests.stub_model.words import Words

SHELL = {
    "run_shell_command": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
}


def planned(text: str, **rest: object) -> object:
    return Words().plan(Conversation(text=text, **rest))  # type: ignore[arg-type]


def test_without_a_magic_word_the_end_of_the_text_is_echoed() -> None:
    plan = planned("x" * 500 + " the end")
    assert isinstance(plan, Answer)
    assert plan.text == "echo: " + "x" * 152 + " the end"


def test_the_last_magic_word_counts_and_ends_at_two_semicolons() -> None:
    plan = planned("STUB:say=first;; then STUB:say=second one;; and more")
    assert isinstance(plan, Answer)
    assert plan.text == "second one"


def test_a_tool_result_is_answered_with_what_it_said_whatever_the_text_asks() -> None:
    plan = planned("STUB:bash=ls;;", tools=SHELL, tool_result="a\nb <system-reminder>not this</system-reminder>")
    assert isinstance(plan, Answer)
    assert plan.text == "tool said: a\nb"


@pytest.mark.parametrize(("told", "answer"), [("my meter is 4711 STUB:say=noted;;\n", "4711"), ("", "I was not told")])
def test_what_was_told_before_is_recalled_and_nothing_else(told: str, answer: str) -> None:
    plan = planned(f"{told}and? STUB:recall=my meter is;;")
    assert isinstance(plan, Answer)
    assert plan.text == answer


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("STUB:hang", Silence()),
        ("STUB:hang2", Answer(("partial one ", "partial two "), pause_s=0.05, ending=Ending.STALL)),
        ("STUB:drop", Answer(("partial one ", "partial two "), pause_s=0.05, ending=Ending.CUT)),
        ("STUB:slow=2", Answer(("chunk0 ", "chunk1 "), pause_s=0.2)),
        ("STUB:err=529", Fault(529)),
        ("STUB:retry=429", Fault(429, retry_after_s=1)),
        ("STUB:refuse", Fault(400, refuses=True)),
        ("STUB:think", Answer(("thought and done",), thinking="let me think about it")),
        ('STUB:tool=look {"at": 1};;', UseTool("look", {"at": 1})),
        ("STUB:bash=ls -l; pwd;;", UseTool("run_shell_command", {"command": "ls -l; pwd"})),
    ],
)
def test_every_word_has_one_meaning(text: str, plan: object) -> None:
    assert planned(text, tools=SHELL) == plan


def test_a_counted_error_ends_after_its_count() -> None:
    words, asked = Words(), Conversation(text="STUB:err=500*2", tools=SHELL)
    assert [words.plan(asked), words.plan(asked)] == [Fault(500), Fault(500)]
    after = words.plan(asked)
    assert isinstance(after, Answer)
    assert after.text == "ok after 2 errors"


def test_side_requests_without_tools_do_not_use_up_the_count_of_an_error() -> None:
    words = Words()
    words.plan(Conversation(text="STUB:err=500*1"))
    assert words.plan(Conversation(text="STUB:err=500*1", tools=SHELL)) == Fault(500)


def test_a_forced_word_beats_the_text_and_a_forced_fault_beats_tool_results() -> None:
    words = Words()
    words.force("err=503")
    assert words.plan(Conversation(text="STUB:say=hi;;")) == Fault(503)
    assert words.plan(Conversation(text="", tool_result="done")) == Fault(503)
    words.force("")
    assert words.plan(Conversation(text="STUB:say=hi;;")) == Answer(("hi",))


def test_a_forced_word_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no magic word"):
        Words().force("not a word!")


def test_required_arguments_that_no_word_names_are_filled_in_by_type() -> None:
    schema = {
        "type": "object",
        "properties": {
            "filePath": {"type": "string"},
            "content": {"type": "string"},
            "mode": {"enum": ["w", "a"]},
            "timeout_ms": {"type": "integer"},
            "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}, "required": ["deep"]},
        },
        "required": ["filePath", "content", "mode", "timeout_ms", "options"],
    }
    plan = planned("STUB:write=/tmp/x;;", tools={"write": schema})
    assert isinstance(plan, UseTool)
    assert plan.arguments == {
        "filePath": "/tmp/x",
        "content": "written by stub\n",
        "mode": "w",
        "timeout_ms": 30_000,
        "options": {"deep": False},
    }


def test_where_json_is_demanded_json_of_that_shape_is_answered() -> None:
    schema = {"type": "object", "properties": {"next": {"enum": ["user", "model"]}}, "required": ["next"]}
    plan = planned("anything", answer_schema=schema)
    assert isinstance(plan, Answer)
    assert json.loads(plan.text) == {"next": "user"}
