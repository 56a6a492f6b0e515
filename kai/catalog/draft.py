"""A first manifest for an agent that speaks ACP, from what it told in its handshake."""

import re
from collections.abc import Mapping
from typing import Any

from kai.wire.values import Json, items, record, text

_FREE = re.compile(r"yolo|bypass|dont.?ask|auto.?approve|allow.?all", re.IGNORECASE)
_MOST = 20  # models that are listed


def draft(
    argv: tuple[str, ...], answers: Mapping[str, Json], *, resumes: bool | None
) -> tuple[dict[str, Any], list[str]]:
    """The manifest as it goes into the file, and what was found, as sentences. `resumes` None: not tried.

    Nothing that was neither told nor seen stands in it; `answers` are the agent's, by method.
    """
    told, session = record(answers.get("initialize")), record(answers.get("session/new"))
    info, able = record(told.get("agentInfo")), record(told.get("agentCapabilities"))
    name, images = (
        text(info.get("title")) or text(info.get("name")),
        record(able.get("promptCapabilities")).get("image"),
    )
    says = able.get("loadSession") is True or "resume" in record(able.get("sessionCapabilities"))
    tried = {True: "it did", False: "it failed", None: "not tried, --prompt does"}[resumes]
    made: dict[str, Any] = {
        "title": name or argv[0],
        "protocol": "acp",
        "launch": {"program": argv[0], "argv": list(argv[1:])},
        "can": {"resume": resumes is True, "images": images is True},
    }
    found = [
        f"It calls itself {name or 'nothing'} {text(info.get('version'))}",
        f"Takes up old sessions: {f'says yes, {tried}' if says else 'no'}. Images: {'yes' if images else 'no'}",
    ]
    options = {text(one.get("id")): one for one in map(record, items(session.get("configOptions")))}
    for more, sentence in (_login(argv, told), _models(session, options), _permissions(session, options)):
        made |= {key: made.get(key, {}) | value if isinstance(value, dict) else value for key, value in more.items()}
        found.append(sentence)
    return made, found


_Found = tuple[dict[str, Any], str]  # what goes into the manifest, and the sentence


def _login(argv: tuple[str, ...], told: Json) -> _Found:
    methods = [record(method) for method in items(told.get("authMethods"))]
    names = ", ".join(text(method.get("name")) or text(method.get("id")) for method in methods)
    for method in methods:
        terminal = record(record(method.get("_meta")).get("terminal-auth"))
        own = argv[1:] if method.get("type") == "terminal" else ()  # then it names what is added to its own arguments
        if args := items((terminal or method).get("args")):
            return {"login": {"command": " ".join((argv[0], *own, *map(str, args)))}}, f"Ways to log in: {names}"
    return {}, f"Ways to log in: {names or 'it names none'}"


def _models(session: Json, options: Mapping[str, Json]) -> _Found:
    listed = [text(record(one).get("modelId")) for one in items(record(session.get("models")).get("availableModels"))]
    by = "set_model" if listed else "config"
    listed = listed or [text(record(one).get("value")) for one in items(options.get("model", {}).get("options"))]
    if not listed:
        return {}, "Models: it names none"
    return {"models": listed[:_MOST], "options": {"model_by": by}}, f"Models: {len(listed)}, such as {listed[0]}"


def _permissions(session: Json, options: Mapping[str, Json]) -> _Found:
    """A mode, else a config option, whose name promises that nothing is asked."""
    modes = record(session.get("modes"))
    now, known = (
        text(modes.get("currentModeId")),
        [text(record(one).get("id")) for one in items(modes.get("availableModes"))],
    )
    ways = {("mode", mode): now for mode in known if _FREE.search(mode) and mode != now}
    for name, option in options.items():
        free = {"False": "true", "off": "on"}.get(str(option.get("currentValue")))
        if free and _FREE.search(name):
            ways["config", f"{name}={free}"] = f"{name}={str(option['currentValue']).lower()}"
    told = f"Modes: {', '.join(known) or 'it names none'}; "
    for (kind, free), asking in ways.items():
        sentence = f"{told}permissions 'ask' sets {asking}, 'bypass' sets {free}: look whether that is so"
        return {"options": {f"{kind}_ask": asking, f"{kind}_bypass": free}}, sentence
    return {}, f"{told}how it is told to ask for nothing is not known: see options.mode_bypass and launch.bypass"
