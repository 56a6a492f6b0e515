"""Where a person's files are, and what they start as."""

from pathlib import Path

import pytest

from kai.model.ids import PrincipalId
from kai.people.folders import PersonFolders

ANN = PrincipalId("p-ann")


@pytest.fixture
def folders(tmp_path: Path) -> PersonFolders:
    return PersonFolders(tmp_path / "state")


def test_every_file_of_a_person_lies_in_a_folder_named_by_their_principal(folders: PersonFolders) -> None:
    assert folders.preferences(ANN) == folders.root / "preferences" / "p-ann" / "PREFERENCES.md"
    assert folders.memory(ANN) == folders.root / "memory" / "p-ann" / "MEMORY.md"
    assert folders.identity(folders.home(ANN)) == folders.root / "homes" / "p-ann" / "AGENTS.md"
    assert folders.shared_memory() == folders.root / "memory" / "MEMORY.md"
    assert folders.archive("c-1") == folders.root / "history" / "c-1"


def test_the_legacy_folder_counts_only_while_the_canonical_one_does_not_exist(folders: PersonFolders) -> None:
    legacy = folders.root / "preferences" / "-100123"
    assert folders.preferences(ANN, "-100123").parent.name == "p-ann"
    legacy.mkdir(parents=True)
    assert folders.preferences(ANN, "-100123").parent == legacy
    assert folders.memory(ANN, "-100123").parent.name == "p-ann"
    (folders.root / "preferences" / "p-ann").mkdir()
    assert folders.preferences(ANN, "-100123").parent.name == "p-ann"


def test_what_a_backend_seeds_stands_in_the_home_workspace_and_what_is_there_stays(folders: PersonFolders) -> None:
    folders.seed(ANN)
    settings = folders.home(ANN) / ".gemini" / "settings.json"
    assert "AGENTS.md" in settings.read_text()
    assert (settings.stat().st_mode & 0o777, settings.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    settings.write_text("{}")
    folders.seed(ANN)
    assert settings.read_text() == "{}"


@pytest.mark.parametrize("chat", ["", ".", "..", "../homes", "/etc", "a/b", "a\0b", "x" * 300, "p ann"])
def test_a_legacy_id_is_one_name_and_leads_nowhere_else(folders: PersonFolders, chat: str) -> None:
    (folders.root / "homes").mkdir(parents=True)
    assert folders.preferences(ANN, chat).parent == folders.root / "preferences" / "p-ann"


def test_seeding_makes_private_folders_with_first_files(folders: PersonFolders) -> None:
    folders.seed(ANN)
    home = folders.home(ANN)
    assert (home / "CLAUDE.md").read_text() == "@AGENTS.md\n"
    for path in (home / "AGENTS.md", folders.preferences(ANN), folders.memory(ANN)):
        assert path.read_text().startswith("# ")
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


def test_seeding_again_leaves_what_the_person_wrote(folders: PersonFolders) -> None:
    folders.seed(ANN)
    folders.preferences(ANN).write_text("mine")
    folders.seed(ANN)
    assert folders.preferences(ANN).read_text() == "mine"


def test_seeding_does_not_hide_an_older_installation(folders: PersonFolders) -> None:
    legacy = folders.root / "preferences" / "4711"
    legacy.mkdir(parents=True)
    (legacy / "PREFERENCES.md").write_text("from before")
    folders.seed(ANN, "4711")
    assert folders.preferences(ANN, "4711").read_text() == "from before"
    assert folders.memory(ANN, "4711").parent.name == "p-ann"


def test_seeding_does_not_write_through_a_link(folders: PersonFolders, tmp_path: Path) -> None:
    home = folders.home(ANN)
    home.mkdir(parents=True)
    (home / "AGENTS.md").symlink_to(tmp_path / "elsewhere")
    folders.seed(ANN)
    assert not (tmp_path / "elsewhere").exists()
