"""Replays a wire file through a fresh driver, as a daemon that takes a run over does."""

import base64
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from kai.model.context import Media, Prompt
from kai.model.events import Choice, ChoiceKind
from kai.model.ids import AttachmentRef, DispatchId
from kai.protocols.driver import Driver, Outputs
from kai.wire import record
from kai.wire.lines import LineFramer, Overlong
from kai.wire.record import Kind


def prompt_of(fields: dict[str, Any]) -> Prompt:
    """The prompt that `prompt_fields` wrote."""
    media = tuple(Media(AttachmentRef(ref), kind, base64.b64decode(data)) for ref, kind, data in fields["media"])
    return Prompt(DispatchId(fields["dispatch"]), fields["text"], media, fields["bare"])


def replay(stream: BinaryIO, driver: Driver, line_bytes: int) -> Iterator[Outputs]:
    """Drive a fresh `driver` through a recorded run; what it gives is what the first one gave, call by call."""
    framer = LineFramer(line_bytes)
    for kind, payload in record.decode(stream):
        if kind is Kind.READ:
            yield from (driver.feed(line) for line in framer.feed(payload) if not isinstance(line, Overlong))
        elif kind is Kind.CALL and (call := json.loads(payload))["call"] != "wrote":
            yield repeat(driver, framer, call)


def repeat(driver: Driver, framer: LineFramer, call: dict[str, Any]) -> Outputs:
    """One recorded call, made again."""
    match call.pop("call"):
        case "prompt":
            return driver.prompt(prompt_of(call))
        case "steer":
            return driver.steer(prompt_of(call))
        case "answer":
            chosen = call["choice"]
            choice = Choice(chosen[0], chosen[1], ChoiceKind(chosen[2])) if chosen else None
            return driver.answer(call["ask"], choice, call["text"])
        case "wrote":  # tells of the pipe, not of the driver
            return ()
        case "rest":
            return driver.feed(framer.finish() or b"")
        case "wake":
            return driver.wake(call["wake"])
        case name:
            outputs: Outputs = getattr(driver, name)(**call)
            return outputs
