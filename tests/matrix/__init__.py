"""What the backends do, as tables: clause by backend, and each ordered pair in a talk that changes its agent."""
