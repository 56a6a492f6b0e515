"""How measurements are chosen, run and printed."""

import json
from pathlib import Path

import pytest

from kai.bench import running, search
from kai.bench.figures import Figure, paired
from kai.bench.search import Size
from kai.commands.bench import NAMES


def measured(ratio: float) -> running.Measure:
    def measure(root: Path, *, quick: bool) -> Figure:
        assert root.is_dir()
        more = {"p99": 7.25, "quick": int(quick)}
        return paired("a_turn", [(ratio, 1.0)], to_reach=2.0, unit="ms", against="a bare one", more=more)

    return measure


def test_the_command_knows_every_measurement() -> None:
    assert tuple(running.MEASURES) == NAMES


def test_a_program_gets_a_list_of_figures(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(running, "MEASURES", {"a_turn": measured(1.5), "other": measured(9.0)})
    assert running.run(["a_turn"], as_json=True, quick=True) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert {"name", "value", "baseline", "ratio", "low", "high", "to_reach", "unit"} <= row.keys()
    assert (row["name"], row["ratio"], row["to_reach"], row["is_reached"]) == ("a_turn", 1.5, 2.0, True)


def test_people_get_a_table_that_names_what_is_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(running, "MEASURES", {"a_turn": measured(2.5)})
    assert running.run([], as_json=False, quick=False) == 1
    told = capsys.readouterr().out
    assert "2.50" in told
    assert "over" in told
    assert "a_turn: 1 pairs, against a bare one\n  p99 7.25; quick 0" in told


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_figure_can_be_taken(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.bench.assembly._QUICK_LONG", 3_000)
    monkeypatch.setattr("kai.bench.memory._QUICK_PEOPLE", 40)
    monkeypatch.setattr("kai.bench.start_up._QUICK_PAIRS", 2)
    monkeypatch.setattr("kai.bench.memory_turn._RECORDS", 5)
    place = search.place
    monkeypatch.setattr(search, "place", lambda root, size: place(root, Size(min(200, size.active), 50, 400)))
    figure = running.MEASURES[name](tmp_path, quick=True)
    assert figure.name == name
    assert figure.low <= figure.ratio <= figure.high
    # A few people weigh less than the noise of one process, and errors there are none.
    assert figure.low > 0 or name in ("idle_person", "odd_queries")
    assert figure.ratio <= 20 * figure.to_reach  # a figure is judged on a quiet machine, not among other tests
