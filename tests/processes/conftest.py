"""The suite that every launcher passes is no test module of its own, yet its asserts should explain themselves."""
