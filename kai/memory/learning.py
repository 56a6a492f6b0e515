"""What a person states by the way, in their own words: sentences of a few forms, and nothing that is guessed. Pure.

No model reads along: a form that is not listed is not learned, and what an agent says is never looked at.
"""

import re

from kai.model.memory import Kind

MOST = 3  # of one message: more of it is a text about something, no word by the way
_CHARS = range(12, 301)
_SENTENCE = re.compile(r"(?<=[.!])\s+|\n+")
_QUOTED = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)
_PREFERENCES = re.compile(
    r"(?:please\s+)?(?:always|never)\s+\w|(?:from now on|in future),?\s+\w|(?:please\s+)?call me\s+\w"
    r"|(?:i|we)\s+(?:really\s+)?(?:prefer|like|love|hate|dislike|(?:don't|do not)\s+(?:like|want\s+you))\s"
    r"|(?:bitte\s+)?(?:immer|nie|niemals)\s+\w|ab jetzt\s+\w|ich\s+(?:mag|bevorzuge|hasse|möchte\s+lieber)\s",
    re.IGNORECASE,
)
_FACTS = re.compile(
    r"(?:my|our)\s+[\w'’ -]{1,40}?\s(?:is|are|was|were|has|have|lives?|works?)\s"
    r"|(?:i|we)\s+(?:live|work|own|was born|were born)\s|i(?:'m|\s+am)\s+(?:a|an|from|allergic|married|born)\s"
    r"|(?:i|we)\s+have\s+(?:a|an|two|three|four|five|\d+)\s+(?!question|problem|idea|request|plan)\w"
    r"|(?:mein|meine|unser|unsere)\s+[\w -]{1,40}?\s(?:ist|sind|war|hat|haben|heißt|wohnt|arbeitet)\s"
    r"|(?:ich|wir)\s+(?:wohne|wohnen|arbeite|arbeiten|heiße|besitze|besitzen)\s",
    re.IGNORECASE,
)


def statements(text: str) -> tuple[tuple[Kind, str], ...]:
    """The first few of `text` that tell something lasting of whoever writes it, each word for word. Questions, quotes
    and code tell nothing."""
    found = []
    for sentence in _SENTENCE.split(_QUOTED.sub("\n", text)):
        said = " ".join(sentence.split())
        if len(said) not in _CHARS or said.endswith("?") or "`" in said:
            continue
        for kind, forms in ((Kind.PREFERENCE, _PREFERENCES), (Kind.FACT, _FACTS)):
            if forms.match(said):
                found.append((kind, said))
                break
    return tuple(found[:MOST])
