"""The seam: what is handed over it."""

from kai.launcher.messages import MAX_BYTES
from kai.model.ids import RunId
from kai.processes.direct import DirectLauncher
from kai.processes.kept import KeptRun
from kai.processes.launcher import PIECE_BYTES, Exit, Launcher, LaunchSpec, Run, TreeAliveError


def test_the_direct_launcher_is_a_launcher_and_its_runs_are_runs() -> None:
    launcher: Launcher = DirectLauncher()
    kind: type[Run] = KeptRun
    assert launcher.name == "direct"
    assert kind is KeptRun


def test_a_spec_holds_nothing_by_default() -> None:
    spec = LaunchSpec(RunId("r-1"), ("/bin/true",), {}, "/")
    assert (spec.user, spec.hold_s, spec.limits) == ("", 0.0, {})
    assert Exit(0) == Exit(0, None, False, 0)


def test_a_tree_that_lives_on_is_told_to_a_person() -> None:
    error = TreeAliveError("r-1", "these processes do not end: 5 (state D)")
    assert str(error) == "The agent could not be stopped: these processes do not end: 5 (state D)."
    assert error.hint


def test_pieces_are_as_big_as_a_pipe_and_smaller_than_a_message() -> None:
    assert PIECE_BYTES == 65_536 < MAX_BYTES
