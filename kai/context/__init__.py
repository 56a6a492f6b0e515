"""What is put before a person's words: `gather` reads the facts, `assemble` turns them into the block, purely."""
