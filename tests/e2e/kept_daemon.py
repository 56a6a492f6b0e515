"""``kai serve`` on the folders of the environment, by a spawner that takes root for the user named last."""

import pwd
import sys
from pathlib import Path

import anyio

import kai.daemon
from kai.settings.where import find
from tests.processes.os_users import AsDaemon

if __name__ == "__main__":
    who = pwd.getpwnam(sys.argv[1])
    vars(kai.daemon)["launcher"] = lambda kind, socket: AsDaemon(Path(socket), who)
    anyio.run(kai.daemon.run, find())
