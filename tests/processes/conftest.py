"""The suite that every launcher passes is no test module of its own, yet its asserts should explain themselves."""

import pytest

pytest.register_assert_rewrite("tests.processes.conformance", "tests.processes.seen")
