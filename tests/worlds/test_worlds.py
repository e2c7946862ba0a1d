"""Riders can use the networks of random cities: everything in the feeds can be travelled, and nothing else."""

import csv
import io

import pytest

from tests.worlds.feeds import draw_world
from tests.worlds.opening import open_world

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_stop_of_a_world_is_imported(seed, tmp_path):
    world = draw_world(seed)
    opened = open_world(world, tmp_path)
    rows = [
        row
        for tables in world.feeds.values()
        for row in csv.DictReader(io.StringIO(tables["stops.txt"].decode("utf-8-sig")))
    ]

    assert opened.network.timetable.stop_count == len(rows)
