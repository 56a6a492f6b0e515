"""``kai bench``."""

import pytest

from tests.commands.conftest import Kai


def test_the_bench_is_told_what_to_measure_and_its_verdict_is_the_exit_status(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def run(names: tuple[str, ...], *, as_json: bool, quick: bool) -> int:
        asked.append((names, as_json, quick))
        return 1

    monkeypatch.setattr("kai.bench.running.run", run)
    assert kai("bench", "--only", "warm_turn", "--json")[0] == 1
    assert asked == [(("warm_turn",), True, False)]
