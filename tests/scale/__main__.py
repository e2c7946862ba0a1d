"""``make test-scale``: start a private PostgreSQL and run the tests that need one, or say why it cannot start.

What follows the command goes to pytest. Processes that tests start find the server by ``FINGERPOST_TEST_DATABASE_URL``.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.scale import places
from tests.scale.cluster import URL, Cluster, PostgresMissing, find_programs

ROOT = Path(__file__).parents[2]
# Held to what the stores in files are held to, and tests of workers; they share a server, and leave it running.
# Most of them wait most of the time.
SHARING = [
    "tests/store/test_variable_store.py",
    "tests/net/test_limiter.py",
    "tests/plan/suite",
    "tests/plan/test_kill.py",
    "tests/plan/test_layouts.py",
    "tests/scale/test_dbos.py",
    "tests/scale/test_recovery.py",
    "tests/scale/test_servers.py",
    "tests/scale/test_two_copies.py",
    "tests/scale/test_failures.py",
    "tests/scale/test_layouts.py",
    "tests/scale/test_backup.py",
    "-k",
    "dbos or postgres or scale",
    "--numprocesses=4",
    "--dist=worksteal",
]
# Its tests stop the server or cut all connections, so they have a server of their own.
BREAKING = ["tests/scale/test_cut_off.py"]


def main(arguments):
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".venv" / "kernels"))
    try:
        programs = find_programs()
    except PostgresMissing as missing:
        sys.stdout.write(f"No PostgreSQL here, so nothing was asked of a real one: {missing}\n")
        return 0
    # Whoever gives up on us must not leave a server behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="fingerpost-postgres-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(programs, Path(folder))
        cluster.create()
        cluster.start()
        try:
            places.cluster = cluster
            os.environ[URL] = cluster.url
            # Of its own, for two of us run at once, and neither may clear away what the other uses.
            tests = f"--basetemp={Path(folder) / 'tests'}"
            return int(pytest.main([tests, *arguments])) if arguments else run_all(tests)
        finally:
            cluster.stop("immediate")


def run_all(*options):
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen([sys.executable, "-m", "tests.scale", *BREAKING], stdout=said, cwd=ROOT) as breaking:
            try:
                status = int(pytest.main([*options, *SHARING]))
                status = max(status, breaking.wait())
            finally:
                breaking.terminate()
        said.seek(0)
        sys.stdout.write(said.read().decode())
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
