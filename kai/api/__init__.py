"""Floor 8: the door. HTTP and JSON on two unix sockets: the people's face and the agents' face."""
