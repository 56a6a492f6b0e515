"""Agent definitions: purpose, instructions, capabilities, skills. A revision is the hash of all that an agent reads."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path

from kai.catalog.shapes import AgentShape
from kai.model.agents import AgentDefinition, Policy, Skill
from kai.settings.files import children
from kai.settings.load import in_order, read_marked
from kai.settings.problems import ConfigError, Place, Problem, did_you_mean, problem
from kai.settings.schema import validated
from kai.settings.yaml_marks import KeyPath, Marked, dotted

PLACEHOLDERS = ("user_id", "user_name", "user_email", "chat_id", "project_id", "current_date", "current_time")
VOLATILE = ("current_date", "current_time")  # the agent section should read the same an hour later

_PLACEHOLDER = re.compile(r"\$\{([^{}\n]*)\}")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def load(shipped: Path, own: Path | None = None) -> dict[str, AgentDefinition]:
    """The definitions ``NAME.yaml`` of both folders, by name; an own one replaces a shipped one of the same name.

    A folder may be missing. Raises `ConfigError` with all problems of all files.
    """
    found, problems = _read(shipped, own)[:2]
    if problems:
        raise ConfigError(in_order(problems))
    return found


def resolved(known: Mapping[str, AgentDefinition], wanted: str) -> AgentDefinition | None:
    """The definition that is meant: by its name in whatever case, by an alias, or by its revision."""
    word = wanted.strip().casefold()
    if word in known:
        return known[word]
    return next((one for one in known.values() if word in (one.revision, *map(str.casefold, one.aliases))), None)


def warnings(shipped: Path, own: Path | None = None) -> tuple[Problem, ...]:
    """What is not wrong, but unwise: the time in a section that should stay the same."""
    return in_order(_read(shipped, own)[2])


def _read(shipped: Path, own: Path | None) -> tuple[dict[str, AgentDefinition], list[Problem], list[Problem]]:
    found: dict[str, AgentDefinition] = {}
    problems: list[Problem] = []
    warned: list[Problem] = []
    listed = [path for folder in (shipped, own) if folder is not None for path in children(folder, problems)]
    files = {path.stem: path for path in listed if path.suffix == ".yaml"}
    problems += [
        problem(Place(str(path)), "", "kai reads no file of this name", f"did you mean {path.stem}.yaml?")
        for path in listed
        if path.suffix == ".yml"
    ]
    for name, path in sorted(files.items()):
        marked = read_marked(path, optional=False)
        shape = validated(AgentShape, marked)
        if not _NAME.fullmatch(name):
            marked.add((), f"{name!r} is no name of a definition", "lower-case letters, digits, '-' and '_'")
        if shape is not None:
            _check(shape, marked, warned)
            found[name] = _definition(name, shape)
            taken = {alias.casefold(): one.name for one in found.values() if one.name != name for alias in one.aliases}
            for number, alias in enumerate(shape.aliases):
                if not _NAME.fullmatch(alias) or alias in files or alias in taken:
                    marked.add(("aliases", number), f"{alias!r} cannot be another name of it", "one that is not taken")
        problems += marked.problems
    return found, problems, warned


def _definition(name: str, shape: AgentShape) -> AgentDefinition:
    made = AgentDefinition(
        name=name,
        purpose=shape.purpose.strip(),
        instructions=shape.instructions.strip(),
        capabilities=shape.capabilities,
        skills=tuple(Skill(skill.name, skill.summary, skill.body) for skill in shape.skills),
        memory=Policy(**asdict(shape.memory)),
        aliases=shape.aliases,
    )
    content = json.dumps(asdict(made), sort_keys=True, ensure_ascii=False)
    return replace(made, revision=sha256(content.encode()).hexdigest()[:16])


def _check(shape: AgentShape, marked: Marked, warned: list[Problem]) -> None:
    texts: list[tuple[KeyPath, str]] = [(("purpose",), shape.purpose), (("instructions",), shape.instructions)]
    texts += [(("capabilities", number), text) for number, text in enumerate(shape.capabilities)]
    for number, skill in enumerate(shape.skills):
        texts += [(("skills", number, part), getattr(skill, part)) for part in ("summary", "body")]
        if not _NAME.fullmatch(skill.name):
            marked.add(("skills", number, "name"), f"{skill.name!r} is no skill's name", "such as pump-check")
        if skill.name in [other.name for other in shape.skills[:number]]:
            marked.add(("skills", number, "name"), f"a second skill {skill.name!r}", "choose another name")
    for path, text in texts:
        for name in _PLACEHOLDER.findall(text):
            if name not in PLACEHOLDERS:
                known = [f"${{{each}}}" for each in PLACEHOLDERS]
                marked.add(path, f"unknown placeholder ${{{name}}}", did_you_mean(f"${{{name}}}", known))
            elif name in VOLATILE:
                note = f"${{{name}}} changes all the time in a section that should stay the same"
                warned.append(problem(marked.place(path), dotted(path), note, "the line [Now: …] tells it already"))
