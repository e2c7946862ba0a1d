"""plan_trip from many connections over one and two machines, with one and two workers each, as a table of Markdown.

Machines are network namespaces of this one, so that they share its cores: with as many cores as workers the table says
how the program grows, with fewer how the cores do.
"""

import argparse
import asyncio
import os
import sys
from contextlib import ExitStack
from pathlib import Path

from load import Load, draw_bodies, measure
from load_server import serving

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.scale.machines import Machine, MachinesMissing, making_machines

PORT = 8000


def measure_row(machines: list[Machine], workers: int, connections: int, seconds: float, bodies: list[bytes]) -> Load:
    """Run one server on each machine, and ask them in turn."""
    with ExitStack() as begun:
        servers = [begun.enter_context(serving(workers, f"{each.address}:{PORT}", each.prefix)) for each in machines]
        return asyncio.run(measure(servers, connections, seconds, bodies))


def main() -> int:
    """Print the table; return 1 where a call failed."""
    parser = argparse.ArgumentParser(description="plan_trip over one and two machines, with one and two workers.")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each row")
    parser.add_argument("--connections", type=int, default=50)
    options = parser.parse_args()
    bodies = draw_bodies(200)
    failures = 0
    print(
        f"plan_trip on the demo, {options.connections} connections, {options.seconds:.0f} s, {os.cpu_count()} cores:\n"
    )
    print("| machines | workers each | calls a second | p50 ms | p99 ms | memory of all, MB |")
    print("|---|---|---|---|---|---|")
    try:
        with making_machines(2) as (_address, _network, made):
            for count, workers in ((1, 1), (1, 2), (2, 1), (2, 2)):
                load = measure_row(made[:count], workers, options.connections, options.seconds, bodies)
                failures += sum(load.failures.values())
                row = [count, workers, f"{load.calls_per_s:.0f}", f"{load.p50_ms:.0f}", f"{load.p99_ms:.0f}"]
                print(f"| {' | '.join(map(str, row))} | {load.bytes_after / 1e6:.0f} |", flush=True)
                if load.failures:
                    print(f"short: {load.failures}", file=sys.stderr)
    except MachinesMissing as missing:
        print(f"No machines could be made here: {missing}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
