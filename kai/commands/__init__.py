"""Floor 10: one file per command; each only parses, calls and prints."""
