"""kai: several people, one daemon, the agent CLIs they already have."""

__version__ = "0.1.0"
