"""``kai serve`` on the folders of the environment. USER PYTHON ERRAND: the spawner takes it for USER, and PYTHON runs
errands from the file ERRAND.
"""

import pwd
import sys
from functools import partial
from pathlib import Path

import anyio

import kai.daemon
import kai.turns.work
from kai.processes.errands import Errands
from kai.settings.where import find
from tests.processes.os_users import AsDaemon

if __name__ == "__main__":
    who = pwd.getpwnam(sys.argv[1])
    vars(kai.daemon)["launcher"] = lambda kind, socket: AsDaemon(Path(socket), who)
    vars(kai.turns.work)["Errands"] = partial(Errands, python=sys.argv[2], program=sys.argv[3])
    anyio.run(kai.daemon.run, find())
