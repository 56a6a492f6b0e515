"""Whatever the documentation lists is there, and whatever is there is listed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kai.model.errors import FailureKind

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def listed(document: str) -> set[str]:
    """The names in the first column of a document's table."""
    return set(re.findall(r"^\| `([^`]+)` \|", (DOCS / document).read_text(), re.MULTILINE))


def trees() -> Iterator[ast.AST]:
    for path in (ROOT / "kai").rglob("*.py"):
        yield from ast.walk(ast.parse(path.read_text()))


def test_every_log_event_is_listed_and_no_other() -> None:
    levels = {"debug", "info", "warning", "error", "exception"}
    events = {
        node.args[0].value
        for node in trees()
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "log"
        and node.func.attr in levels
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    assert listed("log-events.md") == events


def test_every_error_class_is_listed_and_no_other() -> None:
    classes = {node.name: node for node in trees() if isinstance(node, ast.ClassDef)}

    def is_ours(name: str) -> bool:
        bases = [base.id for base in classes[name].bases if isinstance(base, ast.Name)] if name in classes else []
        return "KaiError" in bases or any(is_ours(base) for base in bases)

    api_own = {path.stem for path in (ROOT / "kai/api").glob("problems.py")}
    assert api_own
    private = {
        node.name
        for node in ast.walk(ast.parse((ROOT / "kai/api/problems.py").read_text()))
        if isinstance(node, ast.ClassDef)
    }
    assert listed("errors.md") == {name for name in classes if is_ours(name)} - private


def test_every_finding_of_the_doctor_is_listed() -> None:
    own = [ROOT / "kai/turns" / name for name in ("machine.py", "protection.py", "findings.py", "people_findings.py")]
    sources = "".join(path.read_text() for path in (*own, ROOT / "kai/commands/doctor.py"))
    made = re.findall(r'finding\(\s*"([a-z-]+)"|name = "([a-z]+)"|"name": "([a-z]+)"', sources)
    listed = re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs/findings.md").read_text(), re.MULTILINE)
    assert listed == sorted({name for names in made for name in names if name})


def test_every_failure_kind_is_named_in_the_spec() -> None:
    text = (DOCS / "spec.md").read_text()
    assert [kind for kind in FailureKind if f"`{kind.value}`" not in text] == []


@pytest.mark.parametrize("document", sorted(DOCS.rglob("*.md")), ids=lambda p: str(p.relative_to(DOCS)))
def test_every_path_that_a_document_names_is_there(document: Path) -> None:
    text = document.read_text()
    paths = re.findall(r"`((?:kai|tests|docs|data|config|backends|scripts|systemd)/[\w./-]+)`", text)
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert missing == []


def test_every_decision_fits_a_page_and_is_numbered() -> None:
    decisions = sorted((DOCS / "decisions").glob("*.md"))
    assert [int(path.name[:4]) for path in decisions] == list(range(1, len(decisions) + 1))
    assert all(len(path.read_text().splitlines()) <= 60 for path in decisions)


def test_every_backend_has_a_readme_with_a_tried_version() -> None:
    for folder in sorted((ROOT / "backends").iterdir()):
        text = (folder / "README.md").read_text()
        assert re.search(r"\d+\.\d+", text), folder.name


def commands(group: click.Group, prefix: str = "kai") -> Iterator[tuple[str, set[str]]]:
    """Every command with the options that it takes, those of `kai` itself among them."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", {one for parameter in found.params for one in parameter.opts}


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    from kai import cli

    return dict(commands(next(value for value in vars(cli).values() if isinstance(value, click.Group))))


GUIDES = [ROOT / "README.md", DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]


@pytest.mark.parametrize("document", GUIDES, ids=lambda p: p.name)
def test_every_command_that_a_guide_shows_exists_and_takes_its_options(
    document: Path, known: dict[str, set[str]]
) -> None:
    shown = re.findall(r"(?:^ {4}|`)(?:sudo |\S*/bin/)?(kai [^`\n#]*)", document.read_text(), re.MULTILINE)
    for line in shown:
        words = [word for word in line.partition(" -- ")[0].split() if re.fullmatch(r"[a-z_][a-z_-]*,?", word)]
        names = [" ".join(words[:n]).rstrip(",") for n in (2, 3)]
        found = [name for name in names if name in known]
        assert found or " ".join(words) in {name.rpartition(" ")[0] for name in known}, line
        options = set(re.findall(r"(?<=\s)--[a-z-]+", line.partition(" -- ")[0])) - {"--help", "--state"}
        assert not found or options <= known[found[-1]], line
