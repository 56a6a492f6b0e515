"""What `make check` holds beyond lint, types and floors."""
