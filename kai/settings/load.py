"""`load`: the config folder as one frozen value, or every problem of every file at once."""

from kai.settings.values import Settings
from kai.settings.where import Folders


def load(folders: Folders) -> Settings:
    """Read kai.yaml, people.yaml and workspaces.yaml (each optional). Raises `ConfigError` with all problems."""
    raise NotImplementedError(folders)
