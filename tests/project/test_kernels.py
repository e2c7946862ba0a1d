"""Kernels do no arithmetic on comparisons: numpy adds them as logical values, compiled code as numbers."""

import ast

from tests.project.sources import list_python, parse, shown


def _is_logical(node):
    return isinstance(node, ast.Compare) or getattr(node, "id", "").startswith(("is_", "has_"))


def _list_faults(tree):
    sums = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.AugAssign)]
    sums = [node for node in sums if not isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor)]
    return sorted(node.lineno for node in sums if any(map(_is_logical, ast.iter_child_nodes(node))))


def test_no_kernel_calculates_with_a_comparison():
    paths = [path for path in list_python("src") if "kernel" in path.with_suffix("").parts]

    assert len(paths) >= 9
    assert [f"{shown(path)}:{line}" for path in paths for line in _list_faults(parse(path))] == []
    assert _list_faults(ast.parse("(a > 1) & is_b\n(a > 1) + 2\na += is_b")) == [2, 3]
