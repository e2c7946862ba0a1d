"""Two machines, in network namespaces, share a database: a run survives the death of its machine."""

import os

import pytest

from tests.plan.suite.fixtures import CallLog, adding, plan_of_steps, read_runs
from tests.plan.suite.processes import wait_until
from tests.scale.cluster import URL
from tests.scale.machines import MachinesMissing, making_machines
from tests.scale.places import SHARED, get_cluster
from tests.scale.workers import begun, has_ended, working_on

# Longer than it takes to pull a cable, and shorter than until the database closes the connection.
CHAIN = plan_of_steps(adding(1, 1), adding(2, 1500, 1), adding(3, 1, 2))


@pytest.fixture
def machines():
    cluster = get_cluster()
    try:
        with making_machines() as (address, network, made):
            cluster.listen_also(address, network)
            try:
                yield made, {**os.environ, URL: cluster.url.replace("127.0.0.1", address)}
            finally:
                cluster.stop_listening(address)
    except MachinesMissing as missing:
        pytest.skip(f"no network namespaces here: {missing}")


def test_a_run_survives_a_lost_machine(machines, database, tmp_path):
    (lost, other), environ = machines
    with (
        working_on(other, tmp_path, environ=environ),
        working_on(lost, tmp_path, CHAIN, environ=environ),
    ):
        wait_until(lambda: begun(tmp_path).get(2) == 1, "the second step begins")
        lost.unplug()
        wait_until(has_ended(tmp_path), "the run ends on the other machine")
        (before,) = read_runs(SHARED, tmp_path)
        wait_until(lambda: CallLog(tmp_path).count()["end", f"{before.record.run_id}:2"] == 2, "the lost step ends")
        lost.plug_in()
        living = "SELECT count(DISTINCT (classid, objid)) FROM pg_locks WHERE mode = 'ShareLock' AND objsubid = 1"
        wait_until(lambda: database.read(lambda at: at.execute(living).fetchone()) == (2,), "the lost machine is back")
        (after,) = read_runs(SHARED, tmp_path)

    assert begun(tmp_path) == {1: 1, 2: 2, 3: 1}
    assert (after.record, after.events) == (before.record, before.events)
