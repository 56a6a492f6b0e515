"""The switch matrix: every ordered pair of the backends that run here, driven for real (`make matrix-switch`)."""
