"""``make test-scale``: start a private PostgreSQL and run the tests that need one; say why where it cannot be had.

What follows the command goes to pytest. Processes that tests start find the server by ``FINGERPOST_TEST_DATABASE_URL``.
"""

import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from tests.scale import running
from tests.scale.cluster import URL, Cluster, PostgresMissing, find_programs

ROOT = Path(__file__).parents[2]
# Held to what the stores in files are held to, and tests of workers; they share the server, and leave it running.
STORES = [
    "tests/store/test_variable_store.py",
    "tests/store/test_request_counts.py",
    "tests/net/test_limiter.py",
    "tests/plan/test_engines.py",
    "tests/plan/test_kill.py",
    "tests/scale/test_dbos.py",
    "tests/scale/test_takeover.py",
    "-k",
    "postgres or dbos or scale",
    "--numprocesses=2",
    "--dist=worksteal",
]


def main(arguments: list[str]) -> int:
    """Return pytest's exit status, 0 where PostgreSQL is absent."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".venv" / "kernels"))
    try:
        programs = find_programs()
    except PostgresMissing as missing:
        sys.stdout.write(f"No PostgreSQL here, so nothing was asked of a real one: {missing}\n")
        return 0
    # Whoever gives up on us must not leave a server behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="fingerpost-postgres-") as folder:
        cluster = Cluster(programs, Path(folder))
        cluster.create()
        cluster.start()
        try:
            running.cluster = cluster
            os.environ[URL] = cluster.url
            if arguments:
                return int(pytest.main(arguments))
            # The second part stops the server, and cuts every connection.
            apart = [f"--ignore={each}" for each in STORES if each.startswith("tests/scale")]
            return int(pytest.main(STORES)) or int(pytest.main(["tests/scale", *apart]))
        finally:
            cluster.stop("immediate")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
