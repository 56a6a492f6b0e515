"""The agent's identity (the home AGENTS.md) in a foreign workspace; at home every CLI finds it by itself."""

from kai.context import neutral
from kai.context.draft import Draft, fixed
from kai.context.sections.person_file import contents, placeholder
from kai.model.context import Facts, FileState


def draft(facts: Facts) -> Draft | None:
    file = facts.identity
    if facts.home or file is None:
        return None
    if file.state is FileState.PRESENT:
        body = contents(file, "AGENTS.md")
    else:
        reading = f"Read this file before you answer: {neutral.path(file.path)}"
        body = placeholder(file, reading=reading, writing="Who you are and how you work")
    return fixed("session.identity", "file", file.path, f"[Your core identity and instructions:]\n{body}")
