"""Which API a request speaks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.stub_model import anthropic, chat, gemini, responses
from tests.stub_model.conversation import Conversation
from tests.stub_model.plans import Fault, Frame, Reply


@dataclass(frozen=True, slots=True)
class Api:
    """How one API is read and answered; `whole` and `frames` take the request's number and its size in tokens."""

    name: str
    read: Callable[[dict[str, Any], str], Conversation]
    problem: Callable[[Fault], dict[str, Any]]
    whole: Callable[[Reply, Conversation, int, int], dict[str, Any]]
    frames: Callable[[Reply, Conversation, int, int], Iterator[Frame]]


def _api(module: Any) -> Api:
    name = module.__name__.rpartition(".")[2]
    return Api(name, module.read, module.problem, module.whole, module.frames)


_ANTHROPIC, _CHAT, _RESPONSES, _GEMINI = (_api(module) for module in (anthropic, chat, responses, gemini))


def of(path: str) -> Api | None:
    """The API behind a POST to `path` (without a query); None when there is none."""
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return _GEMINI
    ends = {"/messages": _ANTHROPIC, "/chat/completions": _CHAT, "/responses": _RESPONSES}
    return next((api for end, api in ends.items() if path.endswith(end)), None)


def count(path: str, request_tokens: int) -> dict[str, Any] | None:
    """The answer to a question for the number of tokens; None when `path` asks no such thing."""
    if path.endswith("/count_tokens"):
        return {"input_tokens": request_tokens}
    if path.endswith(":countTokens"):
        return {"totalTokens": request_tokens}
    return None


def models(path: str) -> dict[str, Any] | None:
    """The answer to a GET that lists models; None when `path` is no such list."""
    if not path.endswith("/models"):
        return None
    if "v1beta" in path:
        return {"models": [{"name": "models/gemini-2.5-pro"}, {"name": "models/stub-model"}]}
    model = {"id": "stub-model", "object": "model", "type": "model", "created": 1, "owned_by": "stub",
             "display_name": "stub-model", "created_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    return {"object": "list", "data": [model], "has_more": False}
