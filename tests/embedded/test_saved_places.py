"""A saved place that names a stop: if the two are apart, the rider walks between them."""

import pytest

from tests.rules.drawing import DEGREE_M

ALPHA = (60.17, 24.94)


def first_mode(town, north_m):
    town.ask("save_user_variable", key="home", type="location", value={
        "lat": ALPHA[0] + north_m / DEGREE_M, "lon": ALPHA[1], "stopId": "TEST:ALPHA"})  # fmt: skip
    return town.plan("home", limit=1)["itineraries"][0]["legs"][0]["mode"]


@pytest.mark.parametrize(("north_m", "mode"), [(0, "RAIL"), (24, "RAIL"), (26, "WALK"), (299, "WALK")])
def test_a_saved_stop_is_where_one_boards_only_if_the_place_is_there(town, north_m, mode):
    """D2: 25 m are the stop itself, as positions are measured; from further away the walk is part of the trip."""
    assert first_mode(town, north_m) == mode
