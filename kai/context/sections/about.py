"""About the message itself: who speaks, what it replies to, where its files are."""

from itertools import zip_longest

from kai.context import neutral
from kai.context.draft import Draft, Item
from kai.model.context import Facts
from kai.model.messages import AttachmentInfo
from kai.model.people import ChannelKind

_QUOTE_CHARS = 300


def draft(facts: Facts) -> Draft | None:
    parts, items = [], []
    if facts.reply_quote.strip():
        parts.append(f'in reply to "{neutral.line(facts.reply_quote, _QUOTE_CHARS)}"')
        items.append(Item("reply", "quote", required=True))
    for attachment, path in zip_longest(facts.attachments, facts.attachment_paths[: len(facts.attachments)]):
        parts.append(_file(attachment, path or ""))
        items.append(Item("attachment", attachment.ref, required=True))
    if not facts.words.strip():
        parts.append("no text came with it" if facts.attachments else "it has no text")
    if not parts and facts.kind is ChannelKind.PRIVATE:
        return None
    who = f"from {neutral.line(facts.speaker.name, 60) or 'somebody unknown'}"
    speaker = Item("speaker", facts.speaker.principal or "", required=True)
    text = f"[About this message: {'; '.join([', '.join([who, *parts[:1]]), *parts[1:]])}]"
    return Draft("about", (speaker, *items), lambda _: (text, ""), required=True)


def _file(attachment: AttachmentInfo, path: str) -> str:
    name = neutral.line(attachment.name, 80)
    if not path:
        return f'file "{name}", which cannot be read from here'
    shown = neutral.path(path)
    return f"file: {shown}" if shown.endswith(f"/{name}") else f'file: {shown} (sent as "{name}")'
