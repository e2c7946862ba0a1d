"""The protocol authors' conformance suite against the HTTP server, in each version of the protocol.

It runs where ``FINGERPOST_TYPESCRIPT`` names a folder with ``@modelcontextprotocol/conformance`` and ``node``
(``make test-typescript``).
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.apps.processes import DEADLINE_S, serving

MODULES = Path(os.environ.get("FINGERPOST_TYPESCRIPT", ""), "node_modules")
NODE = MODULES / ".bin" / "node"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NO_PROMPTS, NO_LOGGING, FIXED = "prompts are not served", "logs are not sent to clients", "resources send no changes"
OF_SUITE = "the suite's own example server has this tool or resource"
# By the beginning of a check's id, why it cannot pass here.
EXPECTED = {
    "prompts-": NO_PROMPTS, "sep-2549-prompts-": NO_PROMPTS,
    "logging-": NO_LOGGING, "tools-call-with-logging": NO_LOGGING,
    "resources-subscribe": FIXED, "resources-unsubscribe": FIXED,
    "resources-read-": OF_SUITE, "resources-templates-read": OF_SUITE, "json-schema-2020-12-tool-found": OF_SUITE,
    "tools-call-audio": OF_SUITE, "tools-call-image": OF_SUITE, "tools-call-embedded-resource": OF_SUITE,
    "tools-call-mixed-content": OF_SUITE, "tools-call-with-progress": OF_SUITE, "tools-call-sampling": OF_SUITE,
    "tools-call-elicitation": OF_SUITE, "elicitation-": OF_SUITE, "sep-2322-": OF_SUITE,
    "sep-2243-server-no-xmcp-tool": OF_SUITE, "sep-2243-server-decode-base64": OF_SUITE,
    "sep-2243-server-validate-param-match": OF_SUITE, "sep-2243-server-reject-invalid-param-chars": OF_SUITE,
    "sep-2243-server-reject-param-mismatch": OF_SUITE, "sep-2575-server-rejects-undeclared-capability": OF_SUITE,
    "sep-2575-missing-capability-http-400": OF_SUITE,
}  # fmt: skip

pytestmark = pytest.mark.skipif(not (SUITE.exists() and NODE.exists()), reason="the conformance suite is not installed")


@pytest.mark.parametrize(("version", "passed"), [("2025-06-18", 33), ("2025-11-25", 39), ("2026-07-28", 95)])
def test_the_server_conforms_to_the_protocol(home, tmp_path, version, passed):
    with serving() as server:
        subprocess.run(
            [NODE, SUITE, "server", "--url", f"{server.url}/mcp", "--suite", "all",
             "--spec-version", version, "--output-dir", tmp_path / "results"],
            capture_output=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
    checks = [check for path in (tmp_path / "results").glob("*/checks.json") for check in json.loads(path.read_text())]
    failed = {check["id"]: check.get("errorMessage") for check in checks if check["status"] == "FAILURE"}

    assert {name: why for name, why in failed.items() if not name.startswith(tuple(EXPECTED))} == {}
    assert sum(check["status"] == "SUCCESS" for check in checks) == passed
