"""Opaque ids. They are ours: never a chat app's id, never a person's name."""

import secrets
from typing import NewType

PrincipalId = NewType("PrincipalId", str)
ChannelId = NewType("ChannelId", str)
SeatId = NewType("SeatId", str)
MessageId = NewType("MessageId", str)
TurnId = NewType("TurnId", str)
DispatchId = NewType("DispatchId", str)
RunId = NewType("RunId", str)
SessionId = NewType("SessionId", str)
AskId = NewType("AskId", str)
DeliveryId = NewType("DeliveryId", str)
AttachmentRef = NewType("AttachmentRef", str)
AddressId = NewType("AddressId", str)

# No vowels and nothing that looks like another sign: an id read aloud is typed back right, and spells no word.
_ALPHABET = "23456789bcdfghjkmnpqrstvwxz"
_LENGTH = 12  # 27^12 is 57 bits: no collision to fear in one house
_TRIPLES = tuple(a + b + c for a in _ALPHABET for b in _ALPHABET for c in _ALPHABET)


def fresh(prefix: str) -> str:
    """A new random id such as ``t-4kq9…``; `prefix` says what it names (``p c s m t d r k q v a x``)."""
    number = secrets.randbelow(len(_ALPHABET) ** _LENGTH)  # one draw: a turn makes a dozen ids
    signs = ""
    for _ in range(_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        signs += _ALPHABET[digit]
    return f"{prefix}-{signs}"
