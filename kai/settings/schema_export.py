"""Writes ``config/*.schema.json`` and ``kai.example.yaml``: ``python -m kai.settings.schema_export [FOLDER]``."""

import json
import sys
import textwrap
from dataclasses import fields
from pathlib import Path
from typing import Any

from kai.catalog.shapes import AgentShape, ManifestShape
from kai.resources import folder
from kai.settings.schema import json_schema, written_settings
from kai.settings.values import About, PersonEntry, Settings, UpstreamEntry, Workspace
from kai.settings.yaml_marks import parse

_HEAD = """\
# kai.yaml: every setting with its default. kai runs without this file: keep only what you change.
# 'kai check-config' tells what is wrong with it; 'kai config show --why' tells what holds, and why.
"""


def files() -> dict[str, str]:
    """Every generated file of ``config/``: name to text."""
    schemas = {
        "kai": json_schema(Settings),
        "people": _by_name(PersonEntry, "A person's name"),
        "workspaces": _by_name(Workspace, "A workspace's name"),
        "egress": _by_name(UpstreamEntry, "An upstream's name"),
        "backend": json_schema(ManifestShape),
        "agent": json_schema(AgentShape),
    }
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    texts = {f"{name}.schema.json": _json({**head, **schema}) for name, schema in schemas.items()}
    return {**texts, "kai.example.yaml": _HEAD + _example(Settings, "")}


def _by_name(cls: type, key: str) -> dict[str, Any]:
    entry = json_schema(cls)
    definitions = entry.pop("$defs", {})
    names = {"description": key, "minLength": 1}
    return {"type": "object", "propertyNames": names, "additionalProperties": entry, "$defs": definitions}


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _example(cls: Any, indent: str) -> str:
    lines: list[str] = []
    for field in fields(cls):
        about = written_settings(cls).get(field.name)
        if about is None:
            continue
        told = about.text if isinstance(about, About) else str(about.__doc__)
        lines += ["", *textwrap.wrap(told, 110 - len(indent), initial_indent="# ", subsequent_indent="# ")]
        if isinstance(about, About):
            lines.append(f"{field.name}: {_shown(field.default)}")
        else:
            lines += [f"{field.name}:", _example(about, indent + "  ").strip("\n")]
    return "".join(f"{indent}{line}\n" if line and not line.startswith("  ") else f"{line}\n" for line in lines)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}" if value < 1e6 else str(int(value))
    if isinstance(value, str) and parse(f"a: {value}\n".encode(), "").data == {"a": value}:
        return value
    return json.dumps(value, ensure_ascii=False)


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else folder("config")
    for name, text in files().items():
        (target / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
