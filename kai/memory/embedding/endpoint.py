"""An OpenAI-compatible embeddings endpoint, such as Ollama's. In the child only: the daemon itself calls nobody."""

import http.client
import json
import math
import socket
from array import array
from urllib.parse import SplitResult, urlsplit

from kai.memory.embedding.embedder import Embedding, Identity, Kind

_MOST_BYTES = 4 * 1024 * 1024
_SECONDS = 10.0  # whoever waits has a shorter limit of their own and ends this process


class Endpoint:
    """POSTs one text at a time to `url` (its path as it is, ``…/v1/embeddings``); `unix` is a socket to go through."""

    def __init__(
        self, url: str, model: str, dimension: int, prefixes: tuple[str, str] = ("", ""), unix: str = ""
    ) -> None:
        self._url, self._unix, self._model, self._prefixes = urlsplit(url), unix, model, prefixes
        self.identity = Identity(f"http/{model}", dimension, recipe="-".join(("1", *filter(None, prefixes))))

    def embed(self, kind: Kind, text: str) -> Embedding:
        """Raises `ValueError` for an answer that is none, of another model or without a length; `OSError` for none."""
        body = json.dumps({"model": self._model, "input": self._prefixes[kind == "passage"] + text})
        connection = _connection(self._url, self._unix)
        try:
            connection.request("POST", self._url.path or "/v1/embeddings", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            said = response.read(_MOST_BYTES)
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise ValueError(f"the endpoint answered {response.status}")
        return Embedding(self._vector(json.loads(said)))

    def _vector(self, said: object) -> bytes:
        if not isinstance(said, dict) or not isinstance(said.get("data"), list) or len(said["data"]) != 1:
            raise ValueError("the endpoint's answer holds no vector")
        other = said.get("model", self._model)
        if _bare(other) != _bare(self._model):
            raise ValueError(f"the endpoint answered with the model {other!r}")
        numbers = array("f", said["data"][0]["embedding"])
        length = math.hypot(*numbers)
        return array("f", (n / length for n in numbers)).tobytes() if length else numbers.tobytes()


def _bare(model: object) -> str:
    return str(model).removesuffix(":latest")


def _connection(url: SplitResult, unix: str) -> http.client.HTTPConnection:
    if unix:
        connection = http.client.HTTPConnection(url.hostname or "localhost", url.port, timeout=_SECONDS)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(_SECONDS)
        connection.sock.connect(unix)
        return connection
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    return kind(url.hostname or "localhost", url.port, timeout=_SECONDS)
