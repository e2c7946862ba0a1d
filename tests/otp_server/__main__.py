"""``make test-otp``: start OpenTripPlanner on Tampere and run the tests that need it, or say why it cannot start.

What follows the command goes to pytest. The tests find the server by ``FINGERPOST_OTP_URL``.
"""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from tests.otp_server import running
from tests.otp_server.program import ProgramMissing, find_java, get_jar
from tests.otp_server.server import OtpServer, build_graph
from tests.otp_server.updates import Updates
from tests.shared_data import get_shared

ROOT = Path(__file__).parents[2]
TESTS = ["tests/otp_server", "tests/opentripplanner/test_real_server.py"]


def main(arguments: list[str]) -> int:
    """Return pytest's exit status, 0 where something that is needed is absent."""
    try:
        gtfs, streets = get_shared(running.GTFS), get_shared(running.STREETS)
        find_java()
        get_jar()
    except (ProgramMissing, pytest.skip.Exception) as missing:
        sys.stdout.write(f"No OpenTripPlanner here, so nothing was asked of a real one: {missing}\n")
        return 0
    updates = Updates()
    graph = build_graph({running.FEED: gtfs}, [streets])
    with tempfile.TemporaryDirectory(prefix="fingerpost-otp-") as folder:
        server = OtpServer(graph=graph, folder=Path(folder), realtime=updates.url)
        server.start()
        running.tampere = running.Running(server=server, updates=updates)
        os.environ["FINGERPOST_OTP_URL"] = server.url
        os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".venv" / "kernels"))
        try:
            return int(pytest.main(arguments or TESTS))
        finally:
            server.stop()
            updates.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
