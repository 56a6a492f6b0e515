"""Kills the daemon again and again, each time at a chosen point, and counts what became of every message."""
