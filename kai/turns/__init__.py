"""Floor 6: the life of a turn, from the inbox through its lane to the outbox."""
