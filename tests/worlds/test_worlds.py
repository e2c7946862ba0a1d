"""Riders can use the networks of random cities: `fingerpost network check` finds no fault in the program.

20 worlds; ``FINGERPOST_WORLDS=FIRST:LAST`` names other seeds (`make worlds`, `make soak`).
"""

import os

import pytest

from tests.worlds.feeds import draw_world
from tests.worlds.import_checks import list_import_faults
from tests.worlds.opening import check_world, list_board_faults, list_program_faults, new_trial, open_world

FIRST, _, LAST = os.environ.get("FINGERPOST_WORLDS", "0:20").partition(":")
IS_LONG = "FINGERPOST_WORLDS" in os.environ


@pytest.mark.parametrize("seed", range(int(FIRST), int(LAST)))
def test_a_world_shows_no_fault_of_the_program(seed, tmp_path, monkeypatch):
    world = draw_world(seed)
    monkeypatch.setenv("FINGERPOST_NOW", world.now.isoformat())
    opened = open_world(world, tmp_path)
    report = check_world(opened, tmp_path, questions=20 if IS_LONG else 10)

    assert list_program_faults(report) == [], (seed, sorted(world.features))
    assert list_board_faults(opened) == [], (seed, sorted(world.features))
    assert list_import_faults(new_trial(opened)) == [], (seed, sorted(world.features))
