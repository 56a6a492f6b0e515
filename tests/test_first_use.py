"""Around the imports of a first use nothing is looked for, and what they bring is never looked through again."""

import gc

import pytest

from kai.first_use import importing


def test_no_garbage_is_looked_for_meanwhile_and_what_is_there_is_set_aside() -> None:
    gc.unfreeze()
    with importing():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 1_000
    gc.unfreeze()


def test_an_import_that_fails_leaves_the_collector_as_it_was() -> None:
    with pytest.raises(ImportError), importing():
        raise ImportError
    assert gc.isenabled()
    gc.unfreeze()
