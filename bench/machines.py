"""plan_trip from many connections over one and two machines, with one and two workers each.

Machines are network namespaces of this one, so that they share its cores: with as many cores as workers the table says
how the program grows, with fewer how the cores do.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from figures import p50, percentile
from load import Load, _ask, _draw_bodies
from over_http import DEADLINE_S
from questions import NOW

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.scale.machines import Machine, MachinesMissing, making_machines

PORT = 8000


@contextmanager
def serving(machine: Machine, workers: int, **environ: str) -> Iterator[None]:
    """Run a server on a machine, with a home of its own, until the block ends."""
    command = "from fingerpost.apps.cli import main; main()"
    serve = ["serve", "--http", f"{machine.address}:{PORT}", "--workers", str(workers)]
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [*machine.prefix, sys.executable, "-c", command, *serve],
            stderr=log,
            env={**os.environ, "FINGERPOST_HOME": home, "FINGERPOST_NOW": NOW, **environ},
        )
        try:
            give_up = time.monotonic() + DEADLINE_S
            said = ""
            while said.count("the networks are open") < workers:
                if time.monotonic() > give_up or process.poll() is not None:
                    raise RuntimeError(f"the server did not become ready: {said}")
                time.sleep(0.1)
                log.seek(0)
                said = log.read()
            yield
        finally:
            process.terminate()
            process.wait(DEADLINE_S)


async def measure(machines: list[Machine], connections: int, seconds: float, bodies: list[bytes]) -> Load:
    """Ask machines in turn, as a balancer would that counts connections."""
    load = Load(seconds * 0.9)
    begins = time.perf_counter() + seconds * 0.1
    ends = begins + load.seconds
    await asyncio.gather(
        *[
            _ask(
                machines[number % len(machines)].address,
                PORT,
                [
                    body.replace(b"Host: 127.0.0.1", b"Host: " + machines[number % len(machines)].address.encode())
                    for body in bodies[number:] + bodies[:number]
                ],
                load,
                begins,
                ends,
            )
            for number in range(connections)
        ]
    )
    return load


def main() -> int:
    """Print the table; return 1 where a call failed."""
    parser = argparse.ArgumentParser(description="plan_trip over one and two machines, with one and two workers.")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each row")
    parser.add_argument("--connections", type=int, default=50)
    options = parser.parse_args()
    os.environ["FINGERPOST_NOW"] = NOW
    bodies = _draw_bodies(200)
    failures = 0
    print(f"plan_trip on the demo, {options.connections} connections, {options.seconds:.0f} s, {os.cpu_count()} cores:")
    print(f"  {'machines':>9}{'workers each':>14}{'calls/s':>9}{'p50 ms':>9}{'p99 ms':>9}")
    try:
        with making_machines(2) as (_address, _network, made):
            for count in (1, 2):
                for workers in (1, 2):
                    with ExitStack() as servers:
                        for machine in made[:count]:
                            servers.enter_context(serving(machine, workers))
                        load = asyncio.run(measure(made[:count], options.connections, options.seconds, bodies))
                    times = load.times_ms or [0.0]
                    failures += sum(load.failures.values())
                    print(
                        f"  {count:>9}{workers:>14}{load.calls_per_s:>9.0f}{p50(times):>9.1f}"
                        f"{percentile(times, 0.99):>9.1f}  {load.failures or ''}",
                        flush=True,
                    )
    except MachinesMissing as missing:
        print(f"No machines could be made here: {missing}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
