"""A model server that needs no model: it speaks the APIs of four providers and does what magic words in the prompt say.

Real agent CLIs are pointed at it. It is deterministic, listens on loopback only, and keeps every request so that a test
can read what reached "the model". As a program: ``python -m tests.stub_model --port 8791 --log FILE``.
"""

from tests.stub_model.log import Place, Request
from tests.stub_model.server import StubModel

__all__ = ["Place", "Request", "StubModel"]
