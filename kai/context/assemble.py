"""The one assembler: facts in, block out. No I/O, no clock, no random number: same facts, same bytes."""

from dataclasses import replace

from kai.context import neutral
from kai.context.admit import admit, size_of
from kai.context.order import ORDER
from kai.context.tokens import estimate
from kai.model.context import ContextBlock, Disposition, Facts, Verdict
from kai.model.people import ChannelKind


def assemble(facts: Facts) -> ContextBlock:
    """The exact text of a dispatch with the disposition of everything that was considered.

    Raises `ContextBudgetError` when what must go along does not fit; nothing has been started or written by then.
    """
    words = own_words(facts)
    drafts = [] if facts.native_command else [place.draft(facts) for place in ORDER if place.has_turn(facts)]
    sections, rows = admit([draft for draft in drafts if draft is not None], words, facts.budget)
    size = size_of(words)
    own = Disposition("words", "words", facts.turn, 0, size.bytes, size.tokens, Verdict.SUBMITTED)
    block = ContextBlock(sections, words, (*rows, own), tokens=0, bare=facts.native_command)
    return replace(block, tokens=estimate(block.text))


def own_words(facts: Facts) -> str:
    """The person's words as they go along: verbatim, but for ``@`` in shared channels.

    In private whoever is read a file by ``@/path`` is its own OS user; in a shared channel it is somebody else's.
    """
    words = neutral.whole(facts.words)
    return neutral.at_signs(words) if facts.kind is ChannelKind.SHARED else words
