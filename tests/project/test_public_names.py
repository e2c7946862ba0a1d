"""Public names are listed, sorted and defined."""

import importlib

import pytest

import fingerpost
from tests.project.sources import SRC, list_python, parse

F1 = {
    "DataNotFound", "FinancialFactsParams", "ParameterError", "Plan", "PlanStep", "PlanningCapability",
    "QueryTypeUnsupported", "StorageUnavailable", "Tool", "ToolError", "ToolInput", "ToolRegistry",
    "ToolSpec", "validate_call",
}  # fmt: skip


def _modules_with_all():
    for path in list_python("src"):
        names = [
            target.id
            for node in parse(path).body
            if hasattr(node, "targets")
            for target in node.targets
            if hasattr(target, "id")
        ]
        if "__all__" in names:
            parts = path.relative_to(SRC.parent).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__")


MODULES = sorted(_modules_with_all())


@pytest.mark.parametrize("name", MODULES)
def test_public_names_are_sorted_and_real(name):
    module = importlib.import_module(name)

    assert module.__all__ == sorted(set(module.__all__))
    assert [public for public in module.__all__ if not hasattr(module, public)] == []


def test_the_names_of_the_plan_step_contract_have_one_origin():
    """F1: every name of the plan-step contract that is built can be imported from ``fingerpost``."""
    assert "fingerpost" in MODULES
    assert set(fingerpost.__all__) >= F1


def test_dir_lists_public_names():
    assert dir(fingerpost) == fingerpost.__all__
    with pytest.raises(AttributeError, match="module 'fingerpost' has no attribute 'Signpost'"):
        _ = fingerpost.Signpost
