"""An answer of which a part cannot be read: the rest is answered, and what is left out is said."""

import pytest

from tests.tfl.asking import a_leg, journeys
from tests.tfl.test_journeys import plan


@pytest.mark.parametrize("odd", [{"duration": None}, {"departureTime": "noon"}, {"mode": None}])
async def test_a_leg_that_cannot_be_read_costs_its_own_journey_alone(odd):
    """The other journey is shown, and a note counts what is not."""
    told = journeys(a_leg("09:05", "09:15", 10), a_leg("09:25", "09:35", 10))
    told["journeys"][0]["legs"] = [{**a_leg("09:05", "09:15", 10), **odd}]
    answered, _ = await plan(told)

    assert len(answered.itineraries) == 1
    assert answered.provenance.notes == ("The server said what cannot be read, and it is left out: journeys (1).",)


@pytest.mark.parametrize("path", ["5", "[[51.5, NaN], [51.6, 0.0], [51.7, 0.0]]", "[[51.5"])
async def test_a_path_that_cannot_be_read_is_a_straight_line(path):
    """TfL writes it as JSON inside a text."""
    answered, _ = await plan(journeys(a_leg("09:05", "09:15", 10, path={"lineString": path})))

    assert len(answered.draw(answered.itineraries[0].legs[0]).points) == 2
