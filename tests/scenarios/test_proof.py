"""The figures of memory-proof at a small size, and that they can be bad."""

from pathlib import Path

import pytest

from tests.scenarios.proof import measure

pytestmark = pytest.mark.anyio


async def test_nothing_comes_back_that_may_not_be_used_and_all_is_audited(tmp_path: Path) -> None:
    seen = await measure(200, tmp_path)
    assert (seen.leaks, seen.resurrections, seen.stale, seen.mismatches) == (0, 0, 0, 0)
    assert seen.audited == seen.asked == 200
    assert seen.baited >= 60


async def test_without_the_guard_all_three_come_back(tmp_path: Path) -> None:
    seen = await measure(60, tmp_path, guarded=False)
    assert seen.leaks
    assert seen.resurrections
    assert seen.stale
