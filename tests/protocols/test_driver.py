"""What all drivers share."""

from kai.model.backends import ProtocolName
from kai.model.ids import DispatchId
from kai.protocols.driver import dispatch_uuid
from tests.protocols.agents import manifest, setup


def test_an_attempt_has_the_same_uuid_however_often_it_is_sent() -> None:
    assert dispatch_uuid(DispatchId("d-1")) == dispatch_uuid(DispatchId("d-1"))
    assert dispatch_uuid(DispatchId("d-1")) != dispatch_uuid(DispatchId("d-2"))


def test_an_option_that_the_manifest_does_not_have_is_empty() -> None:
    made = setup(ProtocolName.ACP, "/")
    assert made.option("auth_method") == ""
    assert manifest(ProtocolName.ACP, auth_method="key").options == (("auth_method", "key"),)
