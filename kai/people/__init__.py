"""A person's own files: where they are, how they are read, what they start as."""
