"""All figures of the project: ``make bench``. The method stands in bench/README.md."""

import argparse
import os
import platform
import sys
import tempfile

import beside_nigiri
import over_http
import with_mock_upstream
from questions import NOW, Questions

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build

SEED = 20260310


def main() -> int:
    """Print every figure; return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description="Measure fingerpost beside something else, in the same run.")
    parser.add_argument("--rounds", type=int, default=12, help="interleaved rounds over HTTP")
    parser.add_argument("--calls", type=int, default=60, help="calls of each tool a round")
    parser.add_argument("--trips", type=int, default=300, help="questions beside nigiri; 0 leaves it out")
    options = parser.parse_args()
    os.environ["FINGERPOST_NOW"] = NOW
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    )
    with tempfile.TemporaryDirectory() as home:
        questions = Questions(build(read_settings(home=home)), SEED)
        good = [
            with_mock_upstream.measure(calls=options.rounds * options.calls),
            over_http.measure(questions, home, rounds=options.rounds, calls=options.calls),
        ]
    if options.trips:
        beside_nigiri.measure(count=options.trips)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
