"""The conformance suite for networks, with a real OpenTripPlanner over HTTP."""

import pytest

from tests.conformance.suite import CHECKS, run_check
from tests.conformance.town_network import NetworkCheck
from tests.otp_server import running
from tests.otp_server.town import RealTown, start_towns


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    if running.tampere is None:
        pytest.skip("a real OpenTripPlanner takes a few minutes, Java and Maven: make test-otp")
    still, live, updates = start_towns(tmp_path_factory.mktemp("town"))
    yield RealTown(still, live)
    for server in (still, live):
        server.stop()
    updates.close()


@pytest.mark.parametrize("check", [check for check in CHECKS if isinstance(check, NetworkCheck)], ids=str)
def test_a_real_server_passes_every_check(town, check):
    gap = run_check(town, check)
    if gap is not None:
        pytest.skip(str(gap))
