"""How a person's file stands in the block in each of its states. An empty and a missing one read differently."""

from typing import assert_never

from kai.context import neutral
from kai.context.fences import close_code, fence_id, fenced
from kai.model.context import FileState, PersonFile


def contents(file: PersonFile, label: str) -> str:
    """The text of a file that was read, fenced. The fence id follows from the contents, so that it stays the same."""
    return fenced(fence_id(label + file.text), label, close_code(neutral.data(file.text.strip("\n"))))


def placeholder(file: PersonFile, *, reading: str, writing: str) -> str:
    """What stands in place of contents: how to read a deferred file, what to write into an empty one."""
    path = neutral.path(file.path)
    match file.state:
        case FileState.PRESENT:
            return f"(Its {len(file.text.encode(errors='replace')):,} bytes do not fit here. {reading})"
        case FileState.DEFERRED:
            return reading
        case FileState.EMPTY:
            return f"(The file is empty. {writing} may be written to {path})"
        case FileState.MISSING:
            return f"(There is no such file yet. {writing} may be written to a new one: {path})"
        case FileState.UNREADABLE | FileState.UNSAFE | FileState.OVERSIZED | FileState.MALFORMED:
            problem = neutral.line(file.problem or file.state.value)
            return f"(Not read, {file.state}: {problem}. Do not take it for empty or absent: {path})"
        case _:
            assert_never(file.state)
