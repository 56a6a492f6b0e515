"""The wire file of a run: every chunk read, every frame written, every call of the driver, in order.

A record is one byte of kind, four bytes of length, the payload. The last record of a killed daemon may be torn.
"""

import struct
from collections.abc import Iterator
from enum import Enum
from typing import BinaryIO

_HEADER = struct.Struct(">cI")
HEADER_BYTES = _HEADER.size


class Kind(Enum):
    READ = b"r"  # a chunk from the agent's stdout
    WRITTEN = b"w"  # a frame for its stdin
    CALL = b"c"  # a call of the driver, as JSON


def encode(kind: Kind, payload: bytes) -> bytes:
    """One record."""
    return _HEADER.pack(kind.value, len(payload)) + payload


def decode(stream: BinaryIO) -> Iterator[tuple[Kind, bytes]]:
    """The whole records of `stream`, oldest first; it ends before the first one that is torn or unknown."""
    while len(header := stream.read(_HEADER.size)) == _HEADER.size:
        mark, size = _HEADER.unpack(header)
        payload = stream.read(size)
        if len(payload) < size or mark not in _MARKS:
            return
        yield Kind(mark), payload


_MARKS = frozenset(kind.value for kind in Kind)
