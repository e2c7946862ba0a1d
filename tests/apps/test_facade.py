"""``import fingerpost`` is a list of names, and nothing heavy stands behind it until one is used."""

import subprocess
import sys

import pytest

import fingerpost


def loaded_after(statement):
    """Names of the top-level modules that a fresh interpreter has loaded."""
    code = f"{statement}; import sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_names_are_sorted_and_every_one_is_there():
    """The names are sorted and every one is there."""
    assert fingerpost.__all__ == sorted(fingerpost.__all__)
    assert [name for name in fingerpost.__all__ if getattr(fingerpost, name) is None] == []


def test_an_unknown_name_is_an_attribute_error():
    """An unknown name is an attribute error."""
    with pytest.raises(AttributeError, match="module 'fingerpost' has no attribute 'Signpost'"):
        _ = fingerpost.Signpost


HEAVY = {"numba", "numpy", "pydantic", "mcp", "mcp_types", "httpx2", "typer", "rich", "starlette", "uvicorn"}


def test_importing_the_package_loads_nothing_heavy():
    """Importing the package loads nothing heavy."""
    assert loaded_after("import fingerpost") & HEAVY == set()


def test_the_command_line_starts_without_engine_models_or_protocol():
    """The command line starts without engine, models or protocol."""
    assert loaded_after("import fingerpost.apps.cli.app, fingerpost.apps.cli.output") & HEAVY == {"typer", "rich"}


def test_building_a_house_loads_neither_engine_nor_protocol_nor_http():
    """Building an application loads neither engine nor protocol nor HTTP."""
    statement = (
        "from fingerpost.apps.wiring import build; from fingerpost.apps.settings import read_settings;"
        "build(read_settings())"
    )

    assert loaded_after(statement) & HEAVY == {"pydantic"}
