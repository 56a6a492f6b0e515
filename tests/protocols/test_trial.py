"""A session that only shows whether an agent can be used."""

import getpass
from pathlib import Path

import anyio
import pytest

from kai.clock import SystemClock
from kai.model.backends import ProtocolName
from kai.processes.direct import DirectLauncher
from kai.protocols.trial import trial
from tests.protocols.agents import manifest

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("keep", [False, True])
async def test_it_is_ready_in_a_folder_of_its_own_of_which_the_wire_is_left_when_it_is_asked_for(
    keep: bool, tmp_path: Path
) -> None:
    place, tried = tmp_path / "r-x", manifest(ProtocolName.ACP)
    async with trial(DirectLauncher(), tried, getpass.getuser(), SystemClock(), place, keep=keep) as (session, notes):
        assert session.native_id
        assert notes == ()
    assert await anyio.Path(place / "wire").exists() is keep
    assert await anyio.Path(place).exists() is keep
