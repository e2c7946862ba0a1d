"""A function fits on a screen, and takes few ways through itself; kernels are loops over arrays and may be longer."""

import ast
import re
import tomllib

import pytest

from tests.project.sources import ROOT, list_python, parse, shown

MOST_LINES = 60
MOST_COMPLEXITY = 15


def _is_kernel(path):
    return "kernel" in {path.stem, path.parent.name}


def _list_long_functions(tree):
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno + 1 > MOST_LINES
    ]


def test_no_function_is_longer_than_a_screen():
    """From ``def`` to its last line a function has at most 60 lines, in every folder; kernels alone may have more."""
    long = {
        f"{shown(path)}::{name}"
        for path in list_python()
        if not _is_kernel(path)
        for name in _list_long_functions(parse(path))
    }

    assert long == set()


@pytest.mark.parametrize(("body_lines", "found"), [(MOST_LINES - 1, []), (MOST_LINES, ["f"])])
def test_a_long_function_is_seen(body_lines, found):
    """The ``def`` line counts: 59 lines of body are 60 and pass, 60 are 61 and do not; methods are looked at too."""
    body = "".join("        pass\n" for _ in range(body_lines))

    assert _list_long_functions(ast.parse(f"class A:\n    def f():\n{body}")) == found


def test_complexity_is_bounded_everywhere_but_in_kernels():
    """``ruff check`` refuses a function of more than 15 ways; the files that are excused are kernels."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    excused = [pattern for pattern, codes in lint["per-file-ignores"].items() if {"C", "C9", "C901"} & set(codes)]

    assert "C901" in lint["select"]
    assert "C901" not in lint["ignore"]
    assert lint["mccabe"]["max-complexity"] == MOST_COMPLEXITY
    assert [pattern for pattern in excused if not _is_kernel(ROOT / pattern)] == []


def test_no_line_excuses_itself_from_the_bound():
    """Nobody writes the exemption beside a function: a function that is too complex is split."""
    comment = re.compile(r"#\s*(ruff:\s*)?noqa:.*\bC901\b")

    assert [shown(path) for path in list_python() if comment.search(path.read_text(encoding="utf-8"))] == []
