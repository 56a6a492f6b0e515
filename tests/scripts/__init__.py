"""Tests of what runs outside the package."""
