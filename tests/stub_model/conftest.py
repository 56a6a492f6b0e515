"""A running stub model for its own tests."""

from collections.abc import Iterator

import httpx
import pytest

from tests.stub_model import StubModel


@pytest.fixture
def model() -> Iterator[StubModel]:
    with StubModel() as running:
        yield running


@pytest.fixture
def http(model: StubModel) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=model.url, trust_env=False, timeout=10) as client:
        yield client
