"""Floor 3: start agent CLIs, give them an exact environment, and end their whole tree."""
