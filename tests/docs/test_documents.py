"""The documents name what is there, and the generated ones say what the code says."""

import importlib.util
import re

import pytest

from fingerpost.transit.rules.warnings import WarningCode
from tests.docs.blocks import list_documents
from tests.project.sources import ROOT, SRC, shown

MOST_README_LINES = 120
MOST_RECORD_LINES = 40
RECORD_PARTS = ["Context", "Decision", "What becomes harder"]
RECORDS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


@pytest.fixture(scope="module")
def pages():
    """What docs/generate.py writes."""
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.render_all()


def test_the_reference_is_what_the_code_says(pages):
    """``make docs`` would change nothing."""
    kept = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")}

    assert kept == pages


def test_every_warning_is_in_the_reference(pages):
    """No code of a warning is undocumented."""
    assert [code for code in WarningCode if f"`{code.value}`" not in pages["errors.md"]] == []


def test_every_file_that_the_tour_names_is_there():
    """The tour's paths are files under src/fingerpost."""
    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)`", tour)

    assert [path for path in named if not (SRC / path).is_file()] == []
    assert len(named) > 30


@pytest.mark.parametrize("path", list_documents(), ids=shown)
def test_every_link_inside_the_project_leads_somewhere(path):
    """Relative links are files."""
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", path.read_text(encoding="utf-8"))

    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_readme_is_short():
    """Nobody scrolls past the second command."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < MOST_README_LINES


def test_the_readme_names_every_tool(pages):
    """The table of tools is whole."""
    tools = re.findall(r"^## (\w+)$", pages["tools.md"], re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert [tool for tool in tools if f"`{tool}`" not in readme] == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_decision_record_is_short_and_says_what_becomes_harder(path):
    """Context, decision, what becomes harder; at most a screen and a half."""
    lines = path.read_text(encoding="utf-8").splitlines()
    heads = {line.removeprefix("## ").removesuffix(".") for line in lines}

    assert [part for part in RECORD_PARTS if part not in heads] == []
    assert len(lines) <= MOST_RECORD_LINES


def test_no_two_decision_records_share_a_number():
    """NNNN-title.md, each number once."""
    numbers = [path.name[:4] for path in RECORDS]

    assert sorted(set(numbers)) == numbers
    assert all(number.isdecimal() for number in numbers)


@pytest.mark.parametrize("path", [path for path in list_documents() if path.parent.name != "reference"], ids=shown)
def test_documents_have_one_sentence_a_line(path):
    """No line of prose holds the end of one sentence and the beginning of the next; docstrings make the reference."""
    prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", "x", prose)

    assert [line for line in prose.splitlines() if re.search(r"[a-z)]\. [A-Z]", line) and "|" not in line] == []
