"""A newcomer's first trip in a real city with streets, on a machine where nothing is compiled."""

import os
import subprocess
import sys

import pytest

from tests.shared_data import get_shared

pytestmark = pytest.mark.slow

# One command in a process of its own; what stands for the compiler does nothing.
COMMAND = """
import shutil, sys
from fingerpost.apps.cli import main
sys.executable = shutil.which("true")
main()
"""


def test_a_first_trip_with_streets_is_answered_uncompiled(home, tmp_path):
    feed = get_shared("gtfs/tampere/tampere_nysse_2021-22.gtfs.zip")
    extract = get_shared("gtfs/tampere/tampere.osm.pbf")
    environment = {name: value for name, value in os.environ.items() if name != "FINGERPOST_NOW"}
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "kernels")

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", COMMAND, *arguments], env=environment, capture_output=True, text=True, check=True
        )

    run("network", "add", "TRE", str(feed), "--streets", str(extract))
    trip = run("plan", "61.4965,23.7811", "61.5040,23.8080", "--at", "2022-02-16T08:00")

    assert "The engine is compiling in the background" in trip.stderr
    assert "BUS" in trip.stdout
