"""Floor 4: the languages of the agent CLIs as pure drivers, and the one `Session` that owns a child."""
