"""``kai context``."""
