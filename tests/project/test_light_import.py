"""``import fingerpost`` loads nothing that its user has not asked for."""

import subprocess
import sys

HEAVY = ("httpx", "httpx2", "mcp", "mcp_types", "numba", "numpy", "pydantic", "rich", "starlette", "typer")
# The whole budget of the import, in modules.
MOST_MODULES = 40


def loaded_by(statement):
    """Return the names of the modules that a fresh interpreter loads for a statement."""
    script = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_fingerpost_loads_nothing_heavy():
    """Neither the engine, nor models, nor a protocol, nor an HTTP client, nor the terminal's tables."""
    loaded = {name.split(".")[0] for name in loaded_by("import fingerpost")}

    assert loaded & set(HEAVY) == set()


def test_importing_fingerpost_stays_under_its_budget():
    """The import loads itself and a little of the standard library; time is not measured, because machines differ."""
    loaded = loaded_by("import fingerpost")
    own = {name for name in loaded if name.split(".")[0] not in sys.stdlib_module_names}

    assert own == {"fingerpost"}
    assert len(loaded) <= MOST_MODULES


def test_the_contract_room_loads_no_engine():
    """The plan-step contract's names come without numba, MCP or an HTTP client."""
    loaded = {name.split(".")[0] for name in loaded_by("from fingerpost import Plan")}

    assert loaded & {"httpx", "httpx2", "mcp", "numba", "numpy"} == set()


def test_a_house_is_built_without_the_engine(tmp_path):
    """A server can answer discovery before numba is loaded."""
    statement = (
        "from fingerpost.apps.settings import read_settings; from fingerpost.apps.wiring import build; "
        f"build(read_settings(home={str(tmp_path)!r}))"
    )
    loaded = {name.split(".")[0] for name in loaded_by(statement)}

    assert loaded & {"httpx", "httpx2", "mcp", "numba"} == set()


def test_help_and_version_load_the_terminal_and_nothing_behind_it():
    """What every command line pays: typer and rich, but no models, no engine, no protocol, no HTTP client."""
    loaded = {name.split(".")[0] for name in loaded_by("from fingerpost.apps.cli.app import app")}

    assert loaded & (set(HEAVY) - {"rich", "typer"}) == set()
    assert "typer" in loaded


def test_discovery_over_mcp_loads_no_engine():
    """The server's own modules come without numba: discovery is answered before it is loaded."""
    loaded = {name.split(".")[0] for name in loaded_by("import fingerpost.apps.mcp.stdio")}

    assert "mcp" in loaded
    assert loaded & {"llvmlite", "numba"} == set()
