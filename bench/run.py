"""Measure the tools and the engine: ``make bench``. bench/README.md describes the method."""

import argparse
import os
import platform
import sys

import beside_nigiri
import over_http
import with_mock_upstream
from questions import open_questions


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure fingerpost beside something else, in the same run.")
    parser.add_argument("--rounds", type=int, default=12, help="interleaved rounds over HTTP")
    parser.add_argument("--calls", type=int, default=60, help="calls of each tool a round")
    parser.add_argument("--trips", type=int, default=300, help="questions beside nigiri; 0 leaves it out")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}")
    with open_questions() as (questions, home):
        good = with_mock_upstream.measure(calls=options.rounds * options.calls)
        good &= over_http.measure(questions, home, rounds=options.rounds, calls=options.calls)
    if options.trips:
        good &= beside_nigiri.measure(is_live=False, count=options.trips)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
