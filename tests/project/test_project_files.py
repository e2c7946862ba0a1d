"""The files that a newcomer's tools read: hooks, editor, templates, metadata."""

import re
import tomllib

import pytest
import yaml

from tests.project.sources import ROOT, shown

FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
QUESTIONS = {"checkboxes", "dropdown", "input", "markdown", "textarea"}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def _list_recipe(target):
    """Return the commands of a target of the Makefile, without ``@`` and with the environment's folder written out."""
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1]
    return [line.strip().removeprefix("@").replace("$(BIN)", ".venv/bin") for line in recipe.splitlines()]


def test_the_hooks_run_what_make_check_runs():
    """A commit that the hooks let through passes ``make check``; none of them is fetched from another repository."""
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    hooks = [hook for repo in repos for hook in repo["hooks"]]

    assert [repo["repo"] for repo in repos] == ["local"]
    assert [hook["entry"] for hook in hooks] == _list_recipe("check")
    assert {hook["language"] for hook in hooks} == {"system"}


@pytest.mark.parametrize("path", FORMS, ids=shown)
def test_an_issue_form_can_be_shown(path):
    """Each form has a name, a description and questions; every question has a label, every id is used once."""
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    questions = [part for part in form["body"] if part["type"] != "markdown"]
    ids = [question["id"] for question in questions]

    assert form["name"]
    assert form["description"]
    assert {part["type"] for part in form["body"]} <= QUESTIONS
    assert all(question["attributes"]["label"] for question in questions)
    assert len(ids) == len(set(ids)) > 0


def test_there_is_a_form_for_each_reason_to_write():
    """Something wrong, a source that is missing, a change; and a blank page for the rest."""
    config = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml").read_text(encoding="utf-8"))

    assert [path.stem for path in FORMS] == ["bug", "change", "source"]
    assert config == {"blank_issues_enabled": True}


def test_the_editor_and_the_formatter_agree():
    """.editorconfig and ruff have the same length of a line."""
    editor = (ROOT / ".editorconfig").read_text(encoding="utf-8")
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]

    assert int(re.search(r"\[\*\.py\][^[]*max_line_length = (\d+)", editor)[1]) == ruff["line-length"]


def test_contributing_lists_every_make_target():
    """Who reads CONTRIBUTING.md knows what ``make help`` knows."""
    targets = re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE)
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

    assert [target for target in targets if f"| `make {target}` |" not in contributing] == []
    assert len(targets) > 5
