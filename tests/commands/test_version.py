"""``kai version``."""

import json

from kai import __version__
from tests.commands.conftest import Kai


def test_the_version_is_printed(kai: Kai) -> None:
    assert kai("version") == (0, f"kai {__version__}\n", "")
    assert json.loads(kai("version", "--json")[1])["kai"] == __version__
