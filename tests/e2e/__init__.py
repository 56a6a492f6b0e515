"""The whole daemon, in this process or as one of its own, with real agents as subprocesses and a real client."""
