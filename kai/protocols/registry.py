"""Which driver speaks which protocol, and the frame that each sends for a prompt."""

from typing import assert_never

from kai.model.backends import ProtocolName
from kai.model.context import Prompt
from kai.protocols import acp, stream_json
from kai.protocols.driver import Driver, DriverSetup


def driver_for(setup: DriverSetup) -> Driver:
    """A fresh driver. Raises `NotImplementedError` for a protocol that is not built yet."""
    match setup.manifest.protocol:
        case ProtocolName.STREAM_JSON:
            return stream_json.StreamJson(setup)
        case ProtocolName.ACP:
            return acp.Acp(setup)
        case ProtocolName.APP_SERVER | ProtocolName.PI_RPC:
            raise NotImplementedError(setup.manifest.protocol)
        case _:
            assert_never(setup.manifest.protocol)


def transport_frame(setup: DriverSetup, prompt: Prompt, native_id: str = "") -> bytes:
    """The bytes that the driver sends for `prompt` in the session `native_id`, byte for byte."""
    match setup.manifest.protocol:
        case ProtocolName.STREAM_JSON:
            return stream_json.prompt_frame(prompt)
        case ProtocolName.ACP:
            return acp.prompt_frame(prompt, native_id)
        case ProtocolName.APP_SERVER | ProtocolName.PI_RPC:
            raise NotImplementedError(setup.manifest.protocol)
        case _:
            assert_never(setup.manifest.protocol)
