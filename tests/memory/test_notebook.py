"""What of a MEMORY.md becomes a record."""

from datetime import UTC, datetime

import pytest

from kai.memory.notebook import SEED, Entry, entries
from kai.model.memory import Kind
from kai.resources import folder

WRITTEN = """\
# Memory

- 2026-01-05: The pump is in the cellar
  behind the boiler.
* The bins go out on Monday (2026-03-01)
<!-- not
this -->
## Preferences
1. [x] short answers
## Garage
The door is blue.

Run this:
```
# no heading

- no item
```
## How to
- bleed it
"""


def test_an_item_or_a_paragraph_is_a_record_with_its_line_its_day_and_its_heading() -> None:
    assert entries(WRITTEN) == (
        Entry(3, "The pump is in the cellar\nbehind the boiler.", Kind.FACT, datetime(2026, 1, 5, tzinfo=UTC)),
        Entry(5, "The bins go out on Monday", Kind.FACT, datetime(2026, 3, 1, tzinfo=UTC)),
        Entry(9, "short answers", Kind.PREFERENCE),
        Entry(11, "Garage: The door is blue.", Kind.FACT),
        Entry(13, "Garage: Run this:\n```\n# no heading\n\n- no item\n```", Kind.FACT),
        Entry(20, "bleed it", Kind.HOWTO),
    )


def test_a_file_as_it_was_seeded_holds_nothing() -> None:
    text = (folder("data") / "seeds" / "MEMORY.md").read_text()
    assert SEED in text
    assert entries(text) == ()


@pytest.mark.parametrize("text", ["", "\n\n", "# x", "- ", "---", "```", "<!--", "- 2026-13-45: x", "- \n  \n"])
def test_whatever_it_holds_no_entry_is_empty(text: str) -> None:
    assert all(one.text.strip() for one in entries(text))
