"""The protocol authors' conformance suite against the HTTP server, in each version of the protocol.

It runs where ``FINGERPOST_TYPESCRIPT`` names a folder with ``@modelcontextprotocol/conformance`` and ``node``
(``make test-typescript``).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.processes import DEADLINE_S, serving

MODULES = Path(os.environ.get("FINGERPOST_TYPESCRIPT", ""), "node_modules")
NODE = MODULES / ".bin" / "node"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NO_PROMPTS, NO_LOGGING, FIXED = "prompts are not served", "logs are not sent to clients", "resources are fixed"
TEXT, PLACES = "tools answer with text and structured content", "tools ask for the choice of a place, and nothing else"
OLD = "a server without sessions cannot send requests to clients of the old protocol over HTTP"
# By the beginning of a check's id, why it cannot pass here; tests.apps.suite_server has the tools for the others.
EXPECTED = {
    "prompts-": NO_PROMPTS, "sep-2549-prompts-": NO_PROMPTS, "sep-2322-non-tool-": NO_PROMPTS,
    "logging-": NO_LOGGING, "tools-call-with-logging": NO_LOGGING,
    "resources-subscribe": FIXED, "resources-unsubscribe": FIXED, "resources-read-": FIXED,
    "resources-templates-read": FIXED,
    "tools-call-audio": TEXT, "tools-call-image": TEXT, "tools-call-embedded-resource": TEXT,
    "tools-call-mixed-content": TEXT,
    "tools-call-sampling": OLD, "tools-call-elicitation": OLD, "elicitation-": OLD,
    "sep-2322-sampling": PLACES, "sep-2322-elicitation": PLACES, "sep-2322-list-roots": PLACES,
    "sep-2322-multi": PLACES, "sep-2322-respect-client-capabilities": PLACES,
    "sep-2575-server-rejects-undeclared-capability": PLACES, "sep-2575-missing-capability-http-400": PLACES,
    "sep-2322-reject-tampered-state": "the state holds only choices that a client may make anyway, and is not signed",
    "sep-2243-server-": "no tool has parameters in headers",
}  # fmt: skip

pytestmark = pytest.mark.skipif(not (SUITE.exists() and NODE.exists()), reason="the conformance suite is not installed")


@pytest.mark.parametrize(("version", "passed"), [("2025-06-18", 34), ("2025-11-25", 47), ("2026-07-28", 107)])
def test_the_server_conforms_to_the_protocol(home, tmp_path, version, passed):
    with serving(sys.executable, "-m", "tests.apps.suite_server") as server:
        subprocess.run(
            [NODE, SUITE, "server", "--url", f"{server.url}/mcp", "--suite", "all",
             "--spec-version", version, "--output-dir", tmp_path / "results"],
            capture_output=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
    checks = [check for path in (tmp_path / "results").glob("*/checks.json") for check in json.loads(path.read_text())]
    failed = {check["id"]: check.get("errorMessage") for check in checks if check["status"] == "FAILURE"}

    assert {name: why for name, why in failed.items() if not name.startswith(tuple(EXPECTED))} == {}
    assert sum(check["status"] == "SUCCESS" for check in checks) == passed
