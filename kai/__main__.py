"""``python -m kai``."""

from kai.cli import main

main()
