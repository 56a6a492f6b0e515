"""Floor 2: bytes of the agents' pipes as pure state machines: lines, JSON-RPC, the record of a run."""
