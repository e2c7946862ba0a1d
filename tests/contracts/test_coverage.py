"""The table that shows how each contract statement is covered is complete and correct."""

import ast
import re
from pathlib import Path

from tests.project.sources import ROOT, parse
from tests.shared_data import get_shared

TABLE = Path(__file__).with_name("coverage.md")
ROW = re.compile(r"^\| ([PDSMJ]\d+(?:-[PDSMJ]\d+)?) \| (.+) \|$", re.MULTILINE)
STATED = re.compile(r"^\| ([PDSMJ]\d+(?:-[PDSMJ]\d+)?) \|", re.MULTILINE)
FILE = re.compile(r"`([\w/]+\.py)`: ((?:`test_\w+`(?:, )?)+)")
REASONS = ("not yet: ", "not a test: ")


def rows():
    found = {}
    for span, cell in ROW.findall(TABLE.read_text(encoding="utf-8")):
        for name in spread(span):
            assert name not in found, f"{name} stands twice"
            found[name] = cell
    return found


def spread(span):
    """Return the ids of ``P1`` or ``P1-P3``."""
    first, _, last = span.partition("-")
    letter, begin = first[0], int(first[1:])
    return [f"{letter}{number}" for number in range(begin, int((last or first)[1:]) + 1)]


def named_tests(cell):
    return [(path, name) for path, names in FILE.findall(cell) for name in re.findall(r"test_\w+", names)]


def test_every_statement_about_a_built_tool_is_covered_or_excused():
    assert [name for name, cell in rows().items() if not named_tests(cell) and not has_reason(cell)] == []


def has_reason(cell):
    return any(part.startswith(REASONS) and len(part.split()) > 4 for part in cell.split("; "))


def test_every_named_test_is_there():
    missing = [
        f"{name}: {path}::{test}"
        for name, cell in rows().items()
        for path, test in named_tests(cell)
        if test not in functions_of(ROOT / "tests" / path)
    ]

    assert missing == []


def functions_of(path):
    if not path.exists():
        return set()
    return {node.name for node in ast.walk(parse(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_table_has_every_statement_of_the_contracts():
    pages = (ROOT / "docs" / "contracts").glob("*.md")
    stated = [span for page in pages for span in STATED.findall(page.read_text(encoding="utf-8"))]

    assert set(rows()) == {name for span in stated for name in spread(span)}


def test_the_table_has_every_id_of_the_checklist():
    """The checklist was written from the contracts' own texts, line by line."""
    checklist = get_shared("../contracts/checklist.md").read_text(encoding="utf-8")

    assert set(rows()) == {name for span in STATED.findall(checklist) for name in spread(span)}
