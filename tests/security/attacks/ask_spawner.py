"""As A's agent: ask the spawner for a run as B, or as root; put another socket or policy in its place."""

import json
import os
import socket
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[0].rpartition("/tests/")[0])
from tests.security.attacks.attempt import PLACES, attempt

place = Path(PLACES["spawner"])


def ask(user: str) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel:
        channel.connect(str(place))
        spec = {"op": "spawn", "run": "r-x", "argv": ["/bin/sh"], "env": {}, "cwd": "/", "user": user, "version": 1}
        channel.send(json.dumps(spec).encode())
        return channel.recv(1000)


for user in (PLACES["b"], "root"):
    attempt(f"ask for a run as {'B' if user == PLACES['b'] else user}", ask, user)
attempt("remove its socket", place.unlink)
attempt("put another one in its place", os.symlink, "/dev/null", place.with_name("other.sock"))
attempt("change its policy", lambda: (place.parent / "spawner.json").write_text("{}"))
attempt("exchange a program that it starts", lambda: Path("/bin/true").write_bytes(b""))
