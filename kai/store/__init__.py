"""Floor 3: all SQL. `open_store` gives the `Store`; the functions of the other modules run inside its transactions."""
