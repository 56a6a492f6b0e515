"""The imported archive: read as far as it can be read, written never."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kai.context.archive import read_archive
from kai.model.ids import ChannelId
from kai.model.messages import Author

GARDEN = ChannelId("c-garden")


def day(folder: Path, name: str, *rows: object) -> None:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def row(hour: int, text: str, by: str = "user") -> dict[str, object]:
    return {"ts": f"2026-02-11T{hour:02}:00:00+00:00", "dir": by, "chat_id": 4711, "text": text, "media": None}


def test_the_newest_messages_come_oldest_first_over_several_days(tmp_path: Path) -> None:
    day(tmp_path, "2026-02-10", row(1, "a"), row(2, "b", "assistant"))
    day(tmp_path, "2026-02-11", row(3, "c"))
    found = read_archive(tmp_path, GARDEN, 2)
    assert [message.text for message in found.messages] == ["b", "c"]
    assert [message.author for message in found.messages] == [Author.AGENT, Author.PERSON]
    assert found.messages[0].message == "2026-02-10.jsonl:2", "by which the whole can be read"
    assert (found.canonical, found.archive_dir) == (False, str(tmp_path))


def test_what_is_no_message_is_passed_over(tmp_path: Path) -> None:
    broken = ["", "{", "[]", "null", "7", '{"ts": "x", "dir": "user", "text": "t"}', "[" * 100_000]
    day(tmp_path, "2026-02-11", *broken, {"ts": "2026-02-11T01:00:00"}, row(4, "whole"))
    assert [message.text for message in read_archive(tmp_path, GARDEN, 50).messages] == ["whole"]


def test_a_time_without_a_zone_is_utc_and_text_of_another_type_is_shown_as_it_is(tmp_path: Path) -> None:
    day(tmp_path, "2026-02-11", {"ts": "2026-02-11T01:00:00", "dir": "user", "text": 17})
    (message,) = read_archive(tmp_path, GARDEN, 50).messages
    assert message.created_at == datetime(2026, 2, 11, 1, tzinfo=UTC)
    assert message.text == "17"


def test_a_link_in_the_archive_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    day(tmp_path, "secret", row(1, "somebody else's"))
    (folder / "2026-02-11.jsonl").symlink_to(tmp_path / "secret.jsonl")
    assert read_archive(folder, GARDEN, 50).messages == ()


def test_a_folder_that_may_not_be_listed_is_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(Path, "glob", refuse)
        assert read_archive(tmp_path, GARDEN, 50).messages == ()


def test_no_archive_is_no_history(tmp_path: Path) -> None:
    assert read_archive(tmp_path / "none", GARDEN, 50).messages == ()
    day(tmp_path, "2026-02-11", row(1, "a"))
    assert read_archive(tmp_path, GARDEN, 0).messages == ()
