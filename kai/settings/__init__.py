"""Floor 3: YAML to frozen settings, with file, line and column for whatever is wrong. pydantic is imported only in `schema`."""
