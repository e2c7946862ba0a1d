"""Legs of which the server knows less than others: they are told with what is left."""

import pytest

from fingerpost import clock
from tests.opentripplanner.answers import a_ride, a_walk
from tests.opentripplanner.odd_server import NOW, plan


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setenv(clock.VARIABLE, NOW)


@pytest.mark.parametrize(
    ("leg", "told"),
    [
        (a_walk(mode="CAR"), "OTHER 12:00 Origin to Kamppi 12:05, 200 m"),
        (a_walk(mode="HOVERBOARD"), "OTHER 12:00 Origin to Kamppi 12:05, 200 m"),
        (a_walk(mode=None), "OTHER 12:00 Origin to Kamppi 12:05, 200 m"),
        (a_ride(0, route=None), "BUS towards Tapiola 12:00 Kamppi (platform 44) to Otaniemi 12:10, 5000 m"),
    ],
)
async def test_a_leg_of_a_mode_or_a_line_that_nobody_knows_is_told_without_it(tmp_path, leg, told):
    """A newer server has modes that an older client lacks, and a ride may have no route."""
    answered = await plan(tmp_path, [leg])

    assert answered.text.splitlines()[1].partition(": ")[2] == told
