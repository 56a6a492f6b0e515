"""The operator's instructions for a workspace (`workspaces.yaml`)."""

from kai.context import neutral
from kai.context.draft import Draft, fixed
from kai.context.fences import close_code
from kai.context.sections.person_file import contents, placeholder
from kai.model.context import Facts, FileState

_NAME = "session.workspace"


def draft(facts: Facts) -> Draft | None:
    if file := facts.workspace_file:
        if file.state is FileState.PRESENT:
            body = contents(file, "instructions")
        else:
            reading = (
                f"Read this file before you answer; follow what it says for this folder: {neutral.path(file.path)}"
            )
            body = placeholder(file, reading=reading, writing="Instructions for this folder")
        return fixed(_NAME, "file", file.path, f"## Workspace Instructions\n{body}")
    text = facts.workspace_instructions.strip("\n")
    if not text:
        return None
    return fixed(_NAME, "setting", "system_prompt", f"## Workspace Instructions\n{close_code(neutral.data(text))}")
