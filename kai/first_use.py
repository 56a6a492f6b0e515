"""Imports that wait for their first use, so that an idle daemon holds nothing it has not used (CONTRIBUTING.md)."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Around imports: they leave no garbage, so none is looked for meanwhile, and what they bring stays.

    What stays is never looked through again: to do so at every collection would delay turns.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
