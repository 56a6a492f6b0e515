"""The person's preferences: private channels only, never in temporary mode, never without an identity."""

from kai.context import neutral
from kai.context.draft import Draft, fixed, left_out
from kai.context.sections.person_file import contents, placeholder
from kai.context.sections.privacy import bars_preferences
from kai.model.context import Facts, FileState

_NAME = "session.preferences"


def draft(facts: Facts) -> Draft | None:
    file = facts.preferences
    if reason := bars_preferences(facts):
        return left_out(_NAME, "file", "PREFERENCES.md", reason)
    if file is None:
        return None
    if file.state is FileState.PRESENT:
        body = contents(file, "PREFERENCES.md")
    else:
        reading = "Read this file before you apply preferences; it is yours to read."
        body = placeholder(file, reading=reading, writing="What the person wants you to keep to")
    return fixed(_NAME, "file", file.path, f"[Your personal preferences (file: {neutral.path(file.path)}):]\n{body}")
