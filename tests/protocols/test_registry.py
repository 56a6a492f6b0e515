"""Which driver speaks which protocol."""

import pytest

from kai.model.backends import ProtocolName
from kai.model.context import Media
from kai.model.ids import AttachmentRef
from kai.protocols.driver import Send
from kai.protocols.registry import driver_for, transport_frame
from tests.protocols.agents import PROTOCOLS, prompt, setup


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_frame_of_a_prompt_is_what_the_driver_sends(protocol: ProtocolName) -> None:
    made = setup(protocol, "/")
    driver = driver_for(made)
    driver.start("" if protocol is ProtocolName.ACP else "native")
    text = prompt("words \u2028 é \ud800 \0")
    with_media = type(text)(text.dispatch, text.text, (Media(AttachmentRef("x"), "image/png", b"\x89PNG"),))
    for one in (text, with_media):
        frame = transport_frame(made, one, driver.native_id)
        assert driver.frame(one) == frame
        assert driver.prompt(one)[-1] == Send(frame)
