"""Floor 1: the words of kai as frozen values. Standard library only; no I/O, no clock."""
