"""Everything that is cited exists in docs/contracts."""

import re

import pytest

from tests.project.sources import ROOT, list_python, shown

PAGES = sorted((ROOT / "docs" / "contracts").glob("*.md"))
RULES = {found for page in PAGES for found in re.findall(r"^### ([A-G]\d*) ", page.read_text("utf-8"), re.MULTILINE)}
STATEMENT_ROW = re.compile(r"^\| ([PDSMJ])(\d+)(?:-[PDSMJ](\d+))? \|", re.MULTILINE)
STATEMENTS = {
    f"{letter}{number}"
    for page in PAGES
    for letter, first, last in STATEMENT_ROW.findall(page.read_text("utf-8"))
    for number in range(int(first), int(last or first) + 1)
}

LIST = r"{one}(?:(?:, | and | to |, and ){one})*"
RULE_WORDS = re.compile(r"\b[Rr]ules? (" + LIST.format(one=r"[A-G]\d{0,2}\b") + ")")
STATEMENT_WORDS = re.compile(r"\b[Ss]tatements? (" + LIST.format(one=r"[PDSMJ]\d+\b") + ")")


def _list_texts():
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("*.md")]
    documents += [*(ROOT / "bench").rglob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml"]
    return {shown(path): path.read_text("utf-8") for path in [*list_python(), *documents]}


def _numbers(listed):
    return re.findall(r"\b[A-Z]\d{0,2}\b", listed)


def test_the_rules_and_statements_are_read():
    assert {"A1", "B15", "C4", "D3", "E3", "F7", "G"} <= RULES
    assert {"P78", "D46", "S66", "M64", "J25"} <= STATEMENTS


@pytest.mark.parametrize(("words", "known"), [(RULE_WORDS, RULES), (STATEMENT_WORDS, STATEMENTS)])
def test_every_rule_and_statement_that_is_cited_is_there(words, known):
    unknown = [
        f"{where}: {number}"
        for where, text in _list_texts().items()
        for listed in words.findall(text)
        for number in _numbers(listed)
        if number not in known
    ]

    assert unknown == []


def test_every_document_that_is_named_is_there():
    named = {path for text in _list_texts().values() for path in re.findall(r"\bdocs/[\w/-]+\.md\b", text)}

    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []
    assert len(named) > 10
