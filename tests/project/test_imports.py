"""Imports point one way."""

import subprocess
import sys
from pathlib import Path

from tests.project.sources import ROOT, SRC, list_imports, list_python, parse, shown

KERNELS = "fingerpost.transit.engine.raptor.kernel"


def test_import_directions_hold():
    """Every contract of ``lint-imports`` in pyproject.toml is kept."""
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_kernels_know_only_arrays():
    """A kernel imports numpy and the package's own ``compiling``, and nothing else; only that one imports numba."""
    allowed = {"numpy", f"{KERNELS}.compiling"}
    kernels = list((SRC / "transit" / "engine" / "raptor" / "kernel").glob("*.py"))
    imported = {shown(path): set(list_imports(parse(path))) - allowed for path in kernels}
    of_compiling = imported[shown(SRC / "transit" / "engine" / "raptor" / "kernel" / "compiling.py")]
    of_compiling -= {"numba", "typing", "fingerpost.transit.changeover"}

    assert {path: names for path, names in imported.items() if names} == {}
    assert len(kernels) > 1


def test_only_apps_mcp_imports_the_protocol():
    """Only ``apps/mcp`` imports mcp, and only ``net`` an HTTP client."""
    strangers = ("mcp", "mcp_types", "uvicorn", "starlette", "httpx", "httpx2", "httpcore2")
    found = {
        shown(path): heavy
        for path in list_python("src")
        if "apps/mcp/" not in shown(path) and "fingerpost/net/" not in shown(path)
        if (heavy := [name for name in list_imports(parse(path)) if name.split(".")[0] in strangers])
    }

    assert found == {}


def test_only_the_clock_asks_the_machine_what_time_it_is():
    """``datetime.now``, ``date.today`` and ``time.time`` stand in clock.py alone, so that a fixed clock fixes all."""
    asked = ("datetime.now(", "date.today(", "time.time(", "utcnow(")
    found = [
        shown(path)
        for path in list_python("src")
        if path.name != "clock.py" and any(call in path.read_text(encoding="utf-8") for call in asked)
    ]

    assert found == []
