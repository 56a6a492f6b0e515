"""How long a stop takes, what it leaves, and whether the session goes on, backend by backend."""

import sys

from tests.matrix.clauses import STOPS
from tests.matrix.running import main

if __name__ == "__main__":
    sys.exit(main("stops", STOPS))
