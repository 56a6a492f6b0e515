"""What memory adds to a turn is measured on real daemons, thread by thread."""

import os
from pathlib import Path

import pytest

from kai.bench import memory_turn


@pytest.mark.slow
def test_turns_with_and_without_memory_are_compared_and_their_costs_told_apart(tmp_path: Path) -> None:
    figure = memory_turn._measure(tmp_path, "memory_turn", 2, 4, to_reach=3.0)
    assert figure.pairs == 4
    assert {"added_ms", "added_cpu_ms_loop", "added_cpu_ms_store", "added_cpu_ms_embedder"} <= figure.more.keys()


def test_threads_are_told_with_what_they_used() -> None:
    threads = memory_turn._threads_ms(os.getpid())
    assert threads[str(os.getpid())] > 0
    cost = memory_turn._cost(os.getpid(), threads, 0.0, 2)
    assert cost.keys() == {"loop", "store", "embedder"}
    assert cost["loop"] >= 0
