"""A test that cannot fail is not a test."""

import ast

from tests.project.sources import list_python, parse, shown

MIN_WORDS = 4
_ASKING_CALLS = ("raises", "fail", "warns", "assert_", "check", "run_check")


def _tests(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


def _asserting_helpers(tree):
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(isinstance(inner, ast.Assert) for inner in ast.walk(node))
    }


def _can_fail(test, helpers):
    for node in ast.walk(test):
        if isinstance(node, ast.Assert) and not _is_always_true(node.test):
            return True
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in helpers or called.lstrip("_").startswith(_ASKING_CALLS):
                return True
    return False


def _is_always_true(condition):
    return isinstance(condition, ast.Constant | ast.Tuple)


def test_every_test_can_fail():
    toothless = [
        f"{shown(path)}::{test.name}"
        for path in list_python("tests")
        for test in _tests(parse(path))
        if not _can_fail(test, _asserting_helpers(parse(path)))
    ]

    assert toothless == []


def test_every_test_states_its_fact():
    silent = [
        f"{shown(path)}::{test.name}"
        for path in list_python("tests")
        for test in _tests(parse(path))
        if not ast.get_docstring(test) and test.name.count("_") < MIN_WORDS
    ]

    assert silent == []
