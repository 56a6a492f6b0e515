"""``kai reload``."""

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon


def test_a_good_configuration_holds(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/reload"] = (200, {"loaded": True, "problems": []})
    assert kai("reload") == (0, "The new configuration holds.\n", "")


def test_a_bad_one_is_refused_with_its_problems(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/reload"] = (200, {"loaded": False, "problems": ["kai.yaml:2:3: x"]})
    refused = "The new configuration is refused; the last good one holds.\nkai.yaml:2:3: x\n"
    assert kai("reload") == (1, refused, "")
    assert kai("reload", "--json")[0] == 1


def test_without_a_daemon_there_is_nothing_to_reload(kai: Kai) -> None:
    status, out, err = kai("reload")
    assert (status, out) == (1, "")
    assert err.startswith("kai: No daemon answers on ")
