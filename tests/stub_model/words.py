"""Magic words: what a prompt tells the stub to do. ``STUB:name`` or ``STUB:name=value``, the last one counts.

A value ends at ``;;`` or at the end of its line.

=================  ===================================================================================
slow=N             N pieces of text, 0.2 s apart
long=N             N characters of text
say=TEXT           that text
recall=WORDS       what follows WORDS where the newest text, which may bring a history along, first has them
think              some reasoning first
bash=COMMAND       a call of the offered shell tool; write=PATH and read=PATH likewise
tool=NAME JSON     a call of any tool
err=CODE[*K]       HTTP error CODE, always or for the first K requests with this text
retry=CODE[*K]     the same, with ``Retry-After: 1``
limit=EPOCH        a usage limit that ends at EPOCH (seconds since 1970)
refuse             an error that says that the content is refused
hang               the request is never answered
hang2, drop        two pieces of text, then nothing more, or a closed connection
=================  ===================================================================================

Without a magic word: ``echo:`` and the end of the text. After a tool result: ``tool said:`` and its beginning.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping

from tests.stub_model import tools
from tests.stub_model.conversation import Conversation, bare
from tests.stub_model.plans import Answer, Ending, Fault, Plan, Silence, UseTool, say

_WORD = re.compile(r"STUB:(?P<name>[a-z0-9]+)(?:=(?P<value>.*?)(?=;;|$))?", re.MULTILINE)
_STATUS = re.compile(r"(?P<status>\d{3})(?:\*(?P<times>\d+))?$")
_FAULTS = frozenset({"err", "retry", "limit", "refuse", "hang", "hang2", "drop"})
_PARTIAL = ("partial one ", "partial two ")


class Words:
    """Reads plans out of conversations. It counts how often a counted error was given. Not thread-safe."""

    def __init__(self) -> None:
        self._given: Counter[tuple[str, ...]] = Counter()
        self._forced = ""

    def force(self, word: str) -> None:
        """From now on `word` (such as ``err=500*2``) applies to every request; "" ends that. Counts begin anew."""
        if word and not _WORD.fullmatch(f"STUB:{word}"):
            raise ValueError(f"{word!r} is no magic word")
        self._forced = word
        self._given.clear()

    def plan(self, conversation: Conversation) -> Plan:
        """What to do. A tool result is answered with what it said, unless a fault is forced."""
        found = list(_WORD.finditer(f"STUB:{self._forced}" if self._forced else conversation.text))
        name = found[-1]["name"] if found else ""
        value = (found[-1]["value"] or "").strip() if found else ""
        if conversation.tool_result is not None and not (self._forced and name in _FAULTS):
            return say("tool said: " + bare(conversation.tool_result)[:200])
        if name in {"err", "retry"}:
            return self._fault(name, value, conversation)
        make = _PLANS.get(name)
        plan = make(name, value, conversation) if make else say("echo: " + conversation.text.strip()[-160:])
        if conversation.answer_schema is not None and isinstance(plan, Answer):
            return say(json.dumps(tools.filled(conversation.answer_schema)))
        return plan

    def _fault(self, name: str, value: str, conversation: Conversation) -> Plan:
        match = _STATUS.match(value)
        if match is None:
            return say(f"bad magic word: {name}={value}")
        # Side requests (titles, summaries) offer no tools and bear the same text: they must not use up the count.
        key = (self._forced or conversation.text[:200], value, str(bool(conversation.tools)))
        self._given[key] += 1
        if match["times"] and self._given[key] > int(match["times"]):
            return say(f"ok after {match['times']} errors")
        return Fault(int(match["status"]), retry_after_s=1 if name == "retry" else 0)


def _recall(_name: str, value: str, conversation: Conversation) -> Plan:
    said = conversation.text.partition(f"STUB:recall={value}")[0].partition(value)[2].partition("\n")[0]
    return say(said.partition("STUB:")[0].strip() or "I was not told")


def _slow(_name: str, value: str, _conversation: Conversation) -> Plan:
    return Answer(tuple(f"chunk{n} " for n in range(int(value))), pause_s=0.2)


def _long(_name: str, value: str, _conversation: Conversation) -> Plan:
    length = int(value)
    return say(("0123456789" * (length // 10 + 1))[:length])


def _broken(name: str, _value: str, _conversation: Conversation) -> Plan:
    return Answer(_PARTIAL, pause_s=0.05, ending=Ending.STALL if name == "hang2" else Ending.CUT)


def _limit(resets_at: int) -> Plan:
    return Fault(429, retry_after_s=max(1, resets_at - int(time.time())), resets_at=resets_at)


def _use_tool(name: str, value: str, conversation: Conversation) -> Plan:
    if not conversation.tools:
        return say("no tools are offered")
    if name == "tool":
        tool, _, arguments = value.partition(" ")
        return UseTool(tool, json.loads(arguments or "{}"))
    tool = tools.find(name, conversation.tools)
    if not tool:
        return say(f"no tool for {name} among: " + ", ".join(conversation.tools))
    return UseTool(tool, tools.arguments(name, value, conversation.tools[tool]))


_PLANS: Mapping[str, Callable[[str, str, Conversation], Plan]] = {
    "slow": _slow,
    "long": _long,
    "recall": _recall,
    "say": lambda _name, value, _conversation: say(value),
    "think": lambda _name, _value, _conversation: say("thought and done", thinking="let me think about it"),
    "hang": lambda _name, _value, _conversation: Silence(),
    "hang2": _broken,
    "drop": _broken,
    "limit": lambda _name, value, _conversation: _limit(int(value)),
    "refuse": lambda _name, _value, _conversation: Fault(400, refuses=True),
    "bash": _use_tool,
    "write": _use_tool,
    "read": _use_tool,
    "tool": _use_tool,
}
