"""Tests mirror `kai/`."""
