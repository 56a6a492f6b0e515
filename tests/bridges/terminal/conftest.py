"""A way to show a conversation that keeps what it is shown."""

from dataclasses import dataclass, field

import pytest

from kai.bridges.terminal.view import Row


@dataclass
class Shown:
    """Everything that was shown, in order."""

    rows: list[tuple[str, Row]] = field(default_factory=list)

    async def show(self, turn: str, row: Row) -> None:
        self.rows.append((turn, row))

    def of(self, *kinds: str) -> list[str]:
        """The rows of some types, each as its text."""
        return [_text(row) for _, row in self.rows if row["type"] in kinds]


def _text(row: Row) -> str:
    match row["type"]:
        case "tool":
            return f"{row['name']} {row['target']} {row['ok']}"
        case "ask":
            return str(row["title"])
        case "state":
            return str(row["state"])
        case _:
            return str(row["text"] or row["reason"])


@pytest.fixture
def shown() -> Shown:
    return Shown()
