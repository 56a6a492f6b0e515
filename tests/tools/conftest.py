"""Tools are tested in a whole kai: real store, real runs, real agents as subprocesses."""

from tests.e2e.conftest import house, kai

__all__ = ["house", "kai"]
