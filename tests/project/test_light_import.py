"""Importing a part of fingerpost loads only what that part needs; time is not measured, because machines differ."""

import os
import subprocess
import sys

import pytest

HEAVY = {
    "httpx", "httpx2", "llvmlite", "mcp", "mcp_types", "numba", "numpy", "pydantic", "rich", "starlette", "typer",
    "uvicorn",
}  # fmt: skip
# The whole budget of importing the package, in modules.
MAX_MODULES = 40
BUILD = (
    "from fingerpost.apps.settings import read_settings; from fingerpost.apps.wiring import build; "
    "build(read_settings())"
)


def list_loaded(statement):
    script = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_fingerpost_loads_little_of_the_standard_library():
    loaded = list_loaded("import fingerpost")

    assert {name for name in loaded if name.split(".")[0] not in sys.stdlib_module_names} == {"fingerpost"}
    assert len(loaded) <= MAX_MODULES


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("from fingerpost import Plan", {"pydantic"}),
        ("import fingerpost.apps.cli.app, fingerpost.apps.cli.tool_commands", {"rich", "typer"}),
        (BUILD, {"pydantic"}),
    ],
    ids=["the plan-step contract", "the command line", "an application"],
)
def test_a_part_loads_no_more_than_it_needs(statement, heavy, tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_HOME", str(tmp_path))

    assert {name.split(".")[0] for name in list_loaded(statement)} & HEAVY == heavy


def test_discovery_over_mcp_loads_no_engine():
    loaded = {name.split(".")[0] for name in list_loaded("import fingerpost.apps.mcp.server")}

    assert "mcp" in loaded
    assert loaded & {"llvmlite", "numba"} == set()


def test_a_trip_command_loads_no_compiler_and_no_remote_sources(tmp_path):
    command = [sys.executable, "-X", "importtime", "-m", "fingerpost", "departures", "Kamppi"]
    settings = {"FINGERPOST_HOME": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "fingerpost.transit.embedded.source" in loaded
    assert loaded & {"fingerpost.transit.remote.kit.network", "numba"} == set()
