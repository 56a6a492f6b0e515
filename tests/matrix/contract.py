"""The whole contract: every clause with every backend. ``make matrix-contract`` runs it."""

import sys

from tests.matrix.clauses import CLAUSES
from tests.matrix.running import main

if __name__ == "__main__":
    sys.exit(main("contract", CLAUSES))
