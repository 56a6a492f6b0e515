"""Backends as their folders describe them: the shipped ``backend.yaml``, with the operator's own merged over it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from kai.catalog.shapes import LaunchShape, ManifestShape
from kai.model.backends import Can, LaunchPlan, Limits, Login, Manifest
from kai.settings.files import children
from kai.settings.load import in_order, read_marked
from kai.settings.problems import ConfigError, Place, Problem, did_you_mean, problem
from kai.settings.schema import validated
from kai.settings.yaml_marks import KeyPath, Marked

# The closed lists: a name that nothing reads would be a lie in a manifest.
QUIRKS: Mapping[str, str] = {
    "root_bypass_needs_sandbox": "as root it refuses permissions 'bypass' unless IS_SANDBOX=1 is set",
    "latches_login": "once its login was refused, the process refuses every later prompt",
    "stop_spoils": "ACP: after a stop or an internal error it puts off every prompt, or mixes old words into new ones",
    "takes_up_anything": "ACP: it resumes a session that it does not know as a new one, and loads it without an answer",
    "tells_notices": "ACP: what happens to it stands among the words, each (`Info: …`) in a piece of its own",
}
OPTIONS: Mapping[str, str] = {
    "auth_method": "ACP: method for `authenticate`, where the agent offers it",
    "mode_ask": "ACP: session mode when permissions are 'ask'",
    "mode_bypass": "ACP: session mode when permissions are 'bypass'",
    "config_ask": "ACP: `id=value` of a config option that is set when permissions are 'ask'",
    "config_bypass": "ACP: the same when permissions are 'bypass'",
    "model_by": "ACP: how a model is chosen: 'set_model', or 'config' for the config option `model`",
    "model_provider": "app_server: the provider that must be in force; empty: that of the person's settings",
    "patience_s": "app_server: seconds that it may retry a provider without getting any further",
    "effort_config": "ACP: id of the config option that takes the effort",
}
FILLS: Mapping[str, tuple[str, ...]] = {
    "resume": ("{session}",),
    "model": ("{model}",),
    "effort": ("{effort}",),
    "mcp": ("{mcp_config}", "{mcp_unasked}"),
}
EVERYWHERE = ("{backend_dir}", "{python}")

Wrong = tuple[KeyPath, str, str]  # where, what is wrong, what to do
_ID = re.compile(r"[a-z][a-z0-9-]{0,31}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*")
_FILL = re.compile(r"\{[a-z_]+\}")


def load(folder: Path, overrides: Path | None = None) -> dict[str, Manifest]:
    """Every backend below `folder` and `overrides`, by id, in alphabetical order. Raises `ConfigError`: all problems.

    An override of a shipped backend needs to hold only what differs: mappings are merged, anything else is replaced.
    """
    problems: list[Problem] = []
    shipped = _ids(folder, problems)
    own = _ids(overrides, problems) if overrides is not None else {}
    found: dict[str, Manifest] = {}
    for name in sorted({*shipped, *own}):
        folders = [files[name] for files in (shipped, own) if name in files]
        files = [read_marked(each / "backend.yaml", optional=False) for each in folders]
        marked = files[0] if len(files) == 1 else _merged(*files)
        if manifest := _manifest(name, folders[0], marked):
            found[name] = manifest
        problems += marked.problems
    if problems:
        raise ConfigError(in_order(problems))
    return found


def _ids(folder: Path, problems: list[Problem]) -> dict[str, Path]:
    folders = [child for child in children(folder, problems) if child.is_dir()]
    found = {child.name: child for child in folders if _ID.fullmatch(child.name)}
    problems.extend(
        problem(Place(str(child)), "", f"{child.name!r} is no backend's id", "lower-case letters, digits, '-'")
        for child in folders
        if child.name not in found
    )
    return found


def _merged(base: Marked, over: Marked) -> Marked:
    """`over` laid over `base`; every value keeps its place in the file that it came from."""
    problems = [*base.problems, *over.problems]
    if over.problems:
        return Marked(base.file, base.data, base.values, base.keys, problems, base.bad)
    merged = _deep(base.data, over.data)
    return Marked(over.file, merged, base.values | over.values, base.keys | over.keys, problems, base.bad)


def _deep(base: Any, over: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return {**base, **{key: _deep(base.get(key), value) for key, value in over.items()}}


def _manifest(name: str, folder: Path, marked: Marked) -> Manifest | None:
    shape = validated(ManifestShape, marked)
    if shape is None:
        return None
    for path, message, hint in (*_wrong_launch(shape.launch), *_wrong_names(shape)):
        marked.add(path, message, hint, at_key=True)
    launch, rest = ({f.name: _pairs(getattr(each, f.name)) for f in fields(each)} for each in (shape.launch, shape))
    parts = {
        "launch": LaunchPlan(**launch),
        "can": Can(*astuple(shape.can)),
        "limits": Limits(*astuple(shape.limits)),
        "login": Login(*astuple(shape.login)),
    }
    return Manifest(id=name, folder=str(folder.absolute()), **{**rest, **parts})


def _pairs(value: Any) -> Any:
    return tuple(value.items()) if isinstance(value, Mapping) else value


def _wrong_launch(launch: LaunchShape) -> Iterator[Wrong]:
    variables = ("launch", "pass_env"), ("launch", "strip_env")
    for path, value in ((("launch", each.name), getattr(launch, each.name)) for each in fields(LaunchShape)):
        if isinstance(value, Mapping):
            yield from (wrong for name in value for wrong in _wrong_variable(name, (*path, name)))
            yield from (wrong for name in value for wrong in _wrong_fills(value[name], EVERYWHERE, (*path, name)))
        elif path in variables:
            yield from (wrong for number, name in enumerate(value) for wrong in _wrong_variable(name, (*path, number)))
        else:
            own, text = FILLS.get(path[1], ()), " ".join((value,) if isinstance(value, str) else value)
            yield from _wrong_fills(text, (*EVERYWHERE, *own), path)
            if text and not all(fill in text for fill in own):
                yield path, f"{' '.join(own)} does not occur in it", "say where the value goes"
    for number, name in enumerate(launch.strip_env):
        if name not in launch.pass_env:
            yield ("launch", "strip_env", number), f"{name} is not passed on anyway", "list it in pass_env, too"


def _wrong_fills(text: str, known: tuple[str, ...], path: KeyPath) -> Iterator[Wrong]:
    for fill in _FILL.findall(text):
        if fill not in known:
            yield path, f"{fill} is not filled in here", did_you_mean(fill, known)


def _wrong_variable(name: str, path: KeyPath) -> Iterator[Wrong]:
    if not _ENV_NAME.fullmatch(name):
        yield path, f"{name!r} is no name of an environment variable", "letters, digits and '_'"


def _wrong_names(shape: ManifestShape) -> Iterator[Wrong]:
    for number, quirk in enumerate(shape.quirks):
        if quirk not in QUIRKS:
            yield ("quirks", number), f"unknown quirk {quirk!r}", did_you_mean(quirk, QUIRKS)
    for option in shape.options:
        if option not in OPTIONS:
            yield ("options", option), f"unknown option {option!r}", did_you_mean(option, OPTIONS)
    for each in fields(Limits):
        if getattr(shape.limits, each.name) < 0:
            yield ("limits", each.name), "must not be negative", "0 switches first_output_s or turn_s off"
    yield from (
        ((name,), f"{value!r} is no version", 'write it as in "2.1.332"')
        for name, value in (("version_min", shape.version_min), ("node_min", shape.node_min))
        if value and not _VERSION.fullmatch(value)
    )
    for number, path in enumerate(shape.login.files):
        if Path(path).is_absolute() or ".." in Path(path).parts:
            yield ("login", "files", number), f"{path!r} is not below the home folder", "write a relative path"
