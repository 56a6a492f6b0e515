"""The stub model as a program, for trying an agent CLI by hand."""

import argparse
import signal
from pathlib import Path

from tests.stub_model.server import StubModel


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.stub_model", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one (default)")
    parser.add_argument("--log", type=Path, help="a file that gets one JSON line a request")
    given = parser.parse_args()
    with StubModel(port=given.port, log=given.log) as model:
        print(model.url, flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    # Before any thread starts, so that only sigwait sees them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    main()
