"""What the matrix prints, and what it counts."""

import pytest

from tests.matrix import switch
from tests.matrix.evidence import Turn
from tests.matrix.switch import chosen, last_line, matrix, verdict
from tests.matrix.talk import BACKENDS, Pair

TALK = [Turn("claude", "", "", {})]


def test_all_ordered_pairs_are_asked_for_unless_some_are_named() -> None:
    everything = chosen("", "")
    assert sum(map(len, everything.values())) == 56
    assert all(a not in others for a, others in everything.items())
    assert chosen("claude,codex", "") == {"claude": ["codex"], "codex": ["claude"]}
    assert chosen("", "pi:gemini,offline:claude") == {"pi": ["gemini"], "offline": ["claude"]}
    with pytest.raises(ValueError, match="clode"):
        chosen("clode", "")
    assert set(BACKENDS) == everything.keys()


def test_a_skip_is_no_pass_and_stays_among_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switch, "missing", lambda name: "hermes is not installed" if name == "hermes" else "")
    ran = [
        Pair("claude", "codex", talk=TALK),
        Pair("claude", "offline", talk=TALK),
        Pair("codex", "pi", ["the block is gone"], TALK),
        Pair("codex", "gemini"),
        Pair("claude", "hermes"),
    ]
    assert [verdict(pair) for pair in ran] == ["pass", "pass", "FAIL", "FAIL", "skip"]
    assert last_line(ran) == "switch: 2 of 5 pairs on 2 real CLIs"
    printed = matrix(ran)
    assert printed[0].split()[-8:] == list(BACKENDS)
    assert printed[1].split() == ["claude", "-", "pass", "-", "-", "-", "-", "skip", "pass"]
    assert "FAIL codex -> pi: the block is gone" in printed
    assert printed[-1] == "skip hermes: hermes is not installed"


def test_without_an_installed_agent_nothing_is_driven_and_nothing_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switch, "missing", lambda name: "" if name == "offline" else f"{name} is not installed")
    ran = switch.run(chosen("", ""), at_once=1)
    assert last_line(ran) == "switch: 0 of 56 pairs on 0 real CLIs"
