"""The documents refer only to things that exist, and generated documents are up to date."""

import importlib.util
import re

import pytest
import yaml

from tests.docs.blocks import list_documents
from tests.project.sources import ROOT, SRC, shown

RECORDS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
RECORD = re.compile(r"# (?P<number>\d{4}) (?P<title>.+)\n\n(?P<status>.+)\n\n")
# Records of decisions have their own form; the reference is generated; the others are read for other reasons.
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if path not in RECORDS)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
LINK_AND_ANCHOR = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)]+))?\)")


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(generator):
    return generator.render_all()


def test_type_checkers_see_the_methods_that_the_library_has(generator):
    assert generator.METHODS.read_text(encoding="utf-8") == generator.render_methods()


def test_the_reference_matches_the_code(pages):
    kept = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")}

    assert kept == pages


def test_every_file_that_the_tour_names_is_there():
    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)`", tour)

    assert [path for path in named if not (SRC / path).is_file()] == []
    assert len(named) > 30


def test_every_test_that_defends_is_there():
    named = re.findall(r"`(tests/[\w/.]+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))

    assert [path for path in named if not (ROOT / path).exists()] == []
    assert len(named) > 15


def test_every_link_inside_the_project_leads_to_a_file_and_a_heading():
    broken = [
        f"{shown(path)}: {link}#{anchor}"
        for path in list_documents()
        for link, anchor in LINK_AND_ANCHOR.findall(path.read_text(encoding="utf-8"))
        if not (target := path.parent / link if link else path).exists() or (anchor and anchor not in anchors(target))
    ]

    assert broken == []


def anchors(path):
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_can_be_reached_from_the_readme():
    reached: set = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path not in reached and path.suffix == ".md" and path.is_file():
            reached.add(path)
            waiting += [(path.parent / link).resolve() for link in LINK.findall(path.read_text(encoding="utf-8"))]

    assert [shown(path) for path in (ROOT / "docs").rglob("*.md") if path not in reached] == []


def test_the_site_lists_every_page_except_records_and_contracts():
    listed = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    pages = {shown(path) for path in PAGES if path.parent.name not in ("decisions", "contracts")}

    assert sorted(pages - set(re.findall(r"docs/[\w/-]+\.md", str(listed)))) == []


def test_the_index_of_decisions_is_complete():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    expected = []
    for path in RECORDS:
        head = RECORD.match(path.read_text(encoding="utf-8"))
        expected.append(f"| [{head['number']}]({path.name}) | {head['title']} |")

    assert [line for line in index.splitlines() if line.startswith("| [")] == expected
