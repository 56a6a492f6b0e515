"""Of a service manager the part that a service tells things: it keeps descriptors over the service's end, and hands
them to the next one. As systemd does with ``FileDescriptorStoreMax``, in a test that has no systemd.
"""

import array
import os
import signal
import socket
import threading
from collections.abc import Mapping
from pathlib import Path


class FdStore:
    """Starts a service again and again. `place`: a folder for the socket."""

    def __init__(self, place: Path) -> None:
        self._path = place / "notify.sock"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self._path))
        self._socket.settimeout(0.1)
        self._kept: dict[str, int] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.said: list[str] = []
        self._thread = threading.Thread(target=self._listen, name="pytest_fd_store")
        self._thread.start()

    @property
    def names(self) -> set[str]:
        with self._lock:
            return set(self._kept)

    def start(self, argv: list[str], env: Mapping[str, str]) -> int:
        """The pid of a new service process, which gets what is kept."""
        with self._lock:
            kept = dict(self._kept)
        pid = os.fork()
        if pid:
            return pid
        try:
            high = [os.dup2(descriptor, 200 + number) for number, descriptor in enumerate(kept.values())]
            for number, descriptor in enumerate(high):
                os.dup2(descriptor, 3 + number)
                os.close(descriptor)
            told = {"LISTEN_FDS": str(len(kept)), "LISTEN_FDNAMES": ":".join(kept), "LISTEN_PID": str(os.getpid())}
            os.execve(argv[0], argv, {**env, "NOTIFY_SOCKET": str(self._path), **(told if kept else {})})
        finally:
            os._exit(127)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()
        for descriptor in self._kept.values():
            os.close(descriptor)

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                data, extra, _, _ = self._socket.recvmsg(4096, socket.CMSG_SPACE(64))
            except TimeoutError:
                continue
            found = array.array("i")
            for _, _, content in extra:
                found.frombytes(content)
            fields = dict(line.partition("=")[::2] for line in data.decode().splitlines())
            self.said.append(data.decode())
            with self._lock:
                if "FDSTORE" in fields:
                    self._kept[fields["FDNAME"]] = found[0]
                elif "FDSTOREREMOVE" in fields and fields["FDNAME"] in self._kept:
                    os.close(self._kept.pop(fields["FDNAME"]))


def end(pid: int, number: int = signal.SIGTERM) -> None:
    """Signal a service and collect it."""
    os.kill(pid, number)
    os.waitpid(pid, 0)
