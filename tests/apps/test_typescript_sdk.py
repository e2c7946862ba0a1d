"""The TypeScript SDK, which checks every answer against ``outputSchema``, and the Inspector of the protocol's authors.

They run where Node is installed and ``FINGERPOST_TYPESCRIPT`` names a folder in which ``npm install`` was run for
``@modelcontextprotocol/sdk@1``, ``client@2`` and ``inspector@2`` (``make test-typescript``).
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.processes import COMMAND, DEADLINE_S, serving

ASK = Path(__file__).parent / "typescript" / "ask.mjs"
FOLDER = os.environ.get("FINGERPOST_TYPESCRIPT")
INSPECTOR = Path(FOLDER or "") / "node_modules" / ".bin" / "mcp-inspector"

pytestmark = pytest.mark.skipif(
    FOLDER is None or shutil.which("node") is None, reason="no Node, or FINGERPOST_TYPESCRIPT names no folder"
)


@pytest.mark.parametrize("major", ["1", "2"])
def test_the_sdk_hands_on_errors_and_candidates(home, major):
    assert FOLDER is not None
    with serving(FINGERPOST_MAX_CONCURRENT_CALLS="1") as server:
        done = subprocess.run(
            ["node", str(ASK), major, FOLDER, f"{server.url}/mcp", *COMMAND, "serve"],
            capture_output=True, text=True, timeout=DEADLINE_S, check=True,
        )  # fmt: skip
    told = json.loads(done.stdout)

    assert "Too many requests at once; retry in a second" in told.pop("limited")
    assert [key for key, answer in told.items() if "thrown" in answer] == []
    ambiguous = told["ambiguous"]
    tokens = [each["token"] for each in ambiguous["structuredContent"]["error"]["candidates"]]
    assert tokens
    assert [token for token in tokens if token not in ambiguous["content"][0]["text"]] == []
    failed = {key: told[key].get("isError") for key in ("ambiguous", "unknown", "invalid", "nothing")}
    assert set(failed.values()) == {True}
    assert told["sound"]["structuredContent"]["name"] == "Kamppi"
    assert told["figures"]["structuredContent"]["data"] == {"Revenue": 394328000000}
    assert told["large"]["structuredContent"]["left_out"]


@pytest.mark.skipif(not INSPECTOR.exists(), reason="the Inspector is not installed")
def test_the_inspectors_strict_mode_is_silent(home, application, tmp_path):
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
