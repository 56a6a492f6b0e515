"""The installed service on a really booted systemd: `make booted`, on this machine's own Debian."""

import re
import subprocess
import sys

import pytest

from tests.booted.__main__ import missing
from tests.booted.stage import ROOT

LIMIT_S = 540  # two to three minutes on two quiet cores


@pytest.mark.slow
@pytest.mark.timeout(LIMIT_S + 30)
@pytest.mark.skipif(bool(missing()), reason=f"no machine can be booted: {missing()}")
def test_the_service_lives_as_it_should_on_a_booted_machine() -> None:
    argv = [sys.executable, "-m", "tests.booted", "--debian", "12"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    print(done.stdout)
    last = done.stdout.rstrip().rpartition("\n")[2]
    found = re.fullmatch(r"booted: (\d+) of (\d+) as expected", last)
    assert found, done.stdout[-2000:] + done.stderr[-4000:]
    assert found[1] == found[2], "\n".join(line for line in done.stdout.splitlines() if "| NOT " in line)
    assert done.returncode == 0
