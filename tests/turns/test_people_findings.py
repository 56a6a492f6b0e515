"""Nothing is said of OS users where there are none. With real ones: `tests/e2e/test_people.py`."""

import pytest

from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


async def test_on_a_single_user_kai_nothing_is_said_of_os_users(kai: Kai) -> None:
    from kai.turns.people_findings import people_findings

    await kai.client.add_channel("family", members=[])
    assert await people_findings(kai.daemon.parts) == []


async def test_a_seat_whose_os_user_is_gone_is_a_finding(kai: Kai) -> None:
    from kai.model.ids import ChannelId
    from kai.store import channels
    from kai.turns.people_findings import people_findings

    family = ChannelId((await kai.client.add_channel("family", members=[]))["channel"])
    await kai.daemon.parts.store.write(lambda db: channels.change(db, family, os_user="no-such-user"))
    found = await people_findings(kai.daemon.parts)
    assert [one["name"] for one in found] == ["files-inline", "os-user-unfit"]
    assert "no user 'no-such-user'" in found[1]["problem"]
    assert "kai channel add family --os-user" in found[1]["mend"]
