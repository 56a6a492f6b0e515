"""What a person is told when the provider is in trouble, backend by backend."""

import sys

from tests.matrix.clauses import TOLD
from tests.matrix.running import main

if __name__ == "__main__":
    sys.exit(main("failures", TOLD))
