"""Which driver speaks which protocol, and the frame that each sends for a prompt."""

from collections.abc import Callable, Mapping

from kai.model.backends import ProtocolName
from kai.model.context import Prompt
from kai.protocols import acp, app_server, pi_rpc, stream_json
from kai.protocols.driver import Driver, DriverSetup

_Spoken = tuple[Callable[[DriverSetup], Driver], Callable[[Prompt, str], bytes]]
_SPOKEN: Mapping[ProtocolName, _Spoken] = {
    ProtocolName.STREAM_JSON: (stream_json.StreamJson, lambda prompt, _: stream_json.prompt_frame(prompt)),
    ProtocolName.APP_SERVER: (app_server.AppServer, app_server.prompt_frame),
    ProtocolName.ACP: (acp.Acp, acp.prompt_frame),
    ProtocolName.PI_RPC: (pi_rpc.PiRpc, lambda prompt, _: pi_rpc.prompt_frame(prompt)),
}


def driver_for(setup: DriverSetup) -> Driver:
    """A fresh driver."""
    return _SPOKEN[setup.manifest.protocol][0](setup)


def transport_frame(setup: DriverSetup, prompt: Prompt, native_id: str = "") -> bytes:
    """The bytes that the driver sends for `prompt` in the session `native_id`, byte for byte."""
    return _SPOKEN[setup.manifest.protocol][1](prompt, native_id)
