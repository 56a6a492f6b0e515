"""Loaded by a daemon under test by way of PYTHONPATH: SIGUSR1 makes its loop hang."""

import signal


def stuck_on_purpose(*_: object) -> None:
    while True:
        pass


signal.signal(signal.SIGUSR1, stuck_on_purpose)
