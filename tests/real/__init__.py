"""Tests that drive the real agent CLIs against the stub model. `scripts/install-agents` installs them."""
