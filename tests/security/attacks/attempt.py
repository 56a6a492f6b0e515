"""What every attack is made of: attempts, each told as refused, with the reason, or as done."""

import json
import sys
from collections.abc import Callable
from typing import Any

PLACES: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}


class NothingGainedError(Exception):
    """It went through, and gave nothing that was not its own."""


def attempt(what: str, do: Callable[..., object], *args: object) -> None:
    """Play one attempt, `do` of `args`: any error of the system is a refusal."""
    try:
        gained = do(*args)
    except Exception as error:  # noqa: BLE001 - whatever stands in the way
        print(json.dumps([what, True, getattr(error, "strerror", None) or str(error)]), flush=True)
    else:
        print(json.dumps([what, False, repr(gained)[:200]]), flush=True)
