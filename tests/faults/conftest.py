"""Faults meet a whole kai."""

from tests.e2e.conftest import house, kai

__all__ = ["house", "kai"]
