"""Tells systemd how we are: one datagram to the socket it named, nothing when there is none."""

import os
import socket


def notify(state: str) -> bool:
    """Send a state such as ``READY=1``; whether there was somebody to tell. Never raises: a service runs without it."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    path = "\0" + address[1:] if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.sendto(state.encode(), path)
    except OSError:
        return False
    return True
