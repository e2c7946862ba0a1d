"""The TypeScript SDK, which checks every answer against ``outputSchema``, hands on errors and candidates.

It runs where Node is installed and ``FINGERPOST_TYPESCRIPT`` names a folder in which
``npm install @modelcontextprotocol/sdk@1 @modelcontextprotocol/client@2`` was run (``make test-typescript``).
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.apps.processes import COMMAND, DEADLINE_S

ASK = Path(__file__).parent / "typescript" / "ask.mjs"
FOLDER = os.environ.get("FINGERPOST_TYPESCRIPT")

pytestmark = pytest.mark.skipif(
    FOLDER is None or shutil.which("node") is None, reason="no Node, or FINGERPOST_TYPESCRIPT names no folder"
)


@pytest.mark.parametrize("major", ["1", "2"])
def test_the_sdk_hands_on_errors_and_candidates(home, major):
    """Nothing is thrown: an ambiguous place has its candidates, in the structure and in the text."""
    assert FOLDER is not None
    done = subprocess.run(
        ["node", str(ASK), major, FOLDER, *COMMAND, "serve"],
        capture_output=True, text=True, timeout=DEADLINE_S, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout)

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
