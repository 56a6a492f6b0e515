"""Floor 3: YAML to frozen settings, with file, line and column of whatever is wrong. Only `schema` needs pydantic."""
