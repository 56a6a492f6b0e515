"""Floor 2: text for people. Whole characters, splitting, markup, harmless text. Pure."""
