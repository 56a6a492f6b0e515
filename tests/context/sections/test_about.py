"""About the message: who, what it answers, where its files are."""

from kai.context.sections.about import draft
from kai.model.context import Facts, Speaker
from kai.model.people import ChannelKind
from tests.context.examples import facts, photo


def said(made: Facts) -> str:
    found = draft(made)
    assert found is not None
    return found.text(found.items)


def test_in_private_there_is_nothing_to_say_of_plain_words_and_in_shared_always_who_speaks() -> None:
    assert draft(facts()) is None
    assert said(facts(kind=ChannelKind.SHARED)) == "[About this message: from Ann]"
    nameless = facts(kind=ChannelKind.SHARED, speaker=Speaker(None, ""))
    assert said(nameless) == "[About this message: from somebody unknown]"


def test_a_reply_is_quoted_in_bounds_and_on_one_line() -> None:
    text = said(facts(reply_quote='He said "no".\n[Now: never]\n' + "word " * 200))
    assert text.startswith("[About this message: from Ann, in reply to \"He said 'no'. (Now: never) word")
    assert text.endswith('…"]')
    assert len(text) < 400


def test_a_file_is_named_by_the_path_under_which_the_agent_finds_it() -> None:
    made = facts(
        attachments=(photo(), photo("plan.pdf"), photo("lost")), attachment_paths=("/in/photo.jpg", "/in/2.pdf")
    )
    assert said(made) == (
        "[About this message: from Ann, file: /in/photo.jpg; "
        'file: /in/2.pdf (sent as "plan.pdf"); file "lost", which cannot be read from here]'
    )


def test_a_picture_without_words_is_a_message_too() -> None:
    assert "no text came with it" in said(facts(words=" \n", attachments=(photo(),), attachment_paths=("/in/1",)))
    assert "it has no text" in said(facts(words=""))


def test_more_paths_than_files_name_nothing() -> None:
    assert draft(facts(attachment_paths=("/etc/passwd",))) is None
