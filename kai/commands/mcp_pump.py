"""Carries the lines of an MCP client's pipe to the agents' socket and the answers back, untouched.

Run by path as ``python -I -S``, one for every live agent: the standard library's small parts alone, so that it takes
10 MB and is there at once. Each message is a request of its own, so that a daemon that was started anew is the same to
the client; who asks follows from the process, and from the run's token where nothing else tells.
"""

import os
import socket
import sys
import threading
import time

_CONNECT_S = 15.0  # for a daemon that is being started anew
_AGAIN_S = 0.1
_LEAVE_S = 5.0  # for what is under way when the client closes its end
_PATH = "/v1/mcp"
_UNAVAILABLE = -32000
_out = threading.Lock()


def main() -> int:
    """Until the client closes its end. Exit status 2 outside of a run."""
    where = os.environ.get("KAI_SOCKET", "")
    if not where:
        sys.stderr.write("kai mcp: KAI_SOCKET is not set: this is for agents that kai has started\n")
        return 2
    under_way: list[threading.Thread] = []
    for line in sys.stdin.buffer:
        if line.strip():
            under_way = [one for one in under_way if one.is_alive()]
            # A slow call holds up no other one.
            under_way.append(threading.Thread(target=_carry, args=(where, line), daemon=True))
            under_way[-1].start()
    end = time.monotonic() + _LEAVE_S
    for one in under_way:
        one.join(max(0.0, end - time.monotonic()))
    return 0


def _carry(where: str, line: bytes) -> None:
    try:
        answer = _asked(where, line)
    except OSError as error:
        answer = _problem(line, f"kai cannot be reached: {error}. What was asked may or may not have been done.")
    if answer.strip():
        with _out:
            sys.stdout.buffer.write(answer.strip().replace(b"\n", b" ") + b"\n")
            sys.stdout.buffer.flush()


def _asked(where: str, line: bytes) -> bytes:
    """The daemon's answer to one message; empty when it needs none. Raises `OSError`."""
    head = (
        f"POST {_PATH} HTTP/1.1\r\nhost: kai\r\nconnection: close\r\ncontent-type: application/json\r\n"
        f"accept: application/json\r\ncontent-length: {len(line)}\r\n{_bearer()}\r\n"
    )
    with _connected(where) as link:
        link.sendall(head.encode() + line)
        pieces = []
        while piece := link.recv(65_536):
            pieces.append(piece)
    said, _, body = b"".join(pieces).partition(b"\r\n\r\n")
    status = said.split(b" ", 2)[1:2]
    if not status:
        raise OSError("it closed the connection without an answer")
    if b'"jsonrpc"' in body or status[0] in (b"200", b"202"):
        return body
    return _problem(line, body.decode(errors="replace"))


def _connected(where: str) -> socket.socket:
    end = time.monotonic() + _CONNECT_S
    while True:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.connect(where)
        except (FileNotFoundError, ConnectionRefusedError):
            link.close()
            if time.monotonic() > end:
                raise
            time.sleep(_AGAIN_S)
        except OSError:
            link.close()
            raise
        else:
            return link


def _bearer() -> str:
    """The run's token, when there is one: it travels in a header, and in nothing that others can see."""
    try:
        with open(os.environ["KAI_RUN_FILE"], encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow to load
            return f"authorization: Bearer {file.read().strip()}\r\n"
    except (KeyError, OSError, UnicodeDecodeError):
        return ""


def _problem(line: bytes, sentence: str) -> bytes:
    """An error for the client's request; nothing for a notification, or for what is no JSON."""
    import json  # noqa: PLC0415 - only when something went wrong

    try:
        told = json.loads(sentence)
        sentence = " ".join(str(told.get(name, "")) for name in ("detail", "hint")).strip() or sentence
    except (ValueError, AttributeError):
        sentence = sentence[:2_000]
    try:
        number = json.loads(line)["id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return b""
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": _UNAVAILABLE, "message": sentence}}).encode()


if __name__ == "__main__":
    sys.exit(main())
