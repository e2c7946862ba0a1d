"""The Inspector of the protocol's authors has nothing to say of the published schemas in its strict mode.

It runs where Node is installed and ``FINGERPOST_TYPESCRIPT`` names a folder in which
``npm install @modelcontextprotocol/inspector@2`` was run too (``make test-typescript``).
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.processes import DEADLINE_S

FOLDER = os.environ.get("FINGERPOST_TYPESCRIPT")
INSPECTOR = Path(FOLDER or "") / "node_modules" / ".bin" / "mcp-inspector"

pytestmark = pytest.mark.skipif(
    FOLDER is None or shutil.which("node") is None or not INSPECTOR.exists(),
    reason="no Node, or FINGERPOST_TYPESCRIPT names no folder with the Inspector",
)


def test_its_strict_mode_is_silent(home, application, tmp_path):
    """Every tool is listed, and no line of its report warns of one."""
    # By itself it waits 15 s for a server, which a machine that is busy elsewhere takes to start Node and Python.
    patience = ("--connect-timeout", str(DEADLINE_S // 2 * 1000))
    done = subprocess.run(
        [str(INSPECTOR), "--cli", "--method", "tools/list", "--strict", *patience,
         str(Path(sys.executable).with_name("fingerpost")), "serve"],
        capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if line.startswith(("Warning", "Error"))]

    assert (done.returncode, said) == (0, []), done.stderr[-2000:]
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == list(application.tools)
