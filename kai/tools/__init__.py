"""Floor 7: what agents may call, by the table in `kai.catalog.tools`, each call within the scope of its run."""
