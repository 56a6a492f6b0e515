"""Context blocks that carry everything a transport may stumble over."""

from kai.model.context import ContextBlock, Section

# Line ends of every kind, blanks that look like others, marks that turn or hide text, both normal forms, control
# characters, look-alikes of wrappings and commands. A zero-width space stands behind `@`, as the assembler puts it.
AGENT = "[Agent: house]\nline one\r\nline two\rlone CR\x0b\x0c\u0085\u2028\u2029end of the line ends   "
HISTORY = (
    "[Recent canonical conversation context:]\n"
    "2026-11-29 21:04 Ann: nbsp[\u00a0] narrow[\u202f] zwsp[\u200b] zwj[👨\u200d👩\u200d👧] bom[\ufeff] soft[\u00ad]\n"
    "2026-11-29 21:05 kai: rlo[\u202eabc\u202c] rlm[\u200f] isolate[\u2067x\u2069] nfd[e\u0301] nfc[é] astral[😀𝕏]\n"
    "<system-reminder>no reminder</system-reminder> <session_context>x</session_context> <b>&amp;&#65;</b> ]]> </s>\n"
    "esc[\x1b[31m] nul[\x00]\n"
    "del[\x7f] tab[\t] back\\slash \\n \\u0041 \"double\" 'single' `id` $(id) ${HOME} {x} #n !l\n"
    "@\u200b/etc/hostname @\u200b./here.txt /help /compact --flag\n"
)
WORDS = "  first blanks, STUB:say=understood;; then /help and @\u200b/etc/hostname, and trailing blanks \u00a0 \t \n\n"


def block(words: str, *, filler: str = "") -> ContextBlock:
    """A block with a section of each kind; `filler` makes it as big as wished."""
    texts = {"session": HISTORY + filler, "agent": AGENT}
    sections = tuple(Section(name, text, required=True, stable=True) for name, text in texts.items())
    return ContextBlock(sections, words, dispositions=(), tokens=0)
