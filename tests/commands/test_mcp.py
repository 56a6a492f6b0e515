"""``kai mcp`` is the pump, as a command."""

import pytest

from tests.commands.conftest import Kai


def test_outside_of_a_run_it_says_for_whom_it_is(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAI_SOCKET", raising=False)
    status, out, err = kai("mcp")
    assert (status, out) == (2, "")
    assert "for agents that kai has started" in err
