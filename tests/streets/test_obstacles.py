"""Step-free walks avoid unfit ways and name kerbs of unknown height."""

import pytest

from tests.contracts.conftest import asker
from tests.streets.drawn import degrees
from tests.streets.stations import network_of, stop_row
from tests.streets.towns import NO_STEPS, PLAIN, Town

# 500 m along the street to the stop.
STREET = "A----------------------------------------B"
ROWS = [stop_row("ALPHA", (5, 0)), stop_row("BETA", (40, 0))]
ENDS = (0, 0.5), (6, 0.5)
LINE = "line 1 | Alpha 08:20 | Beta 08:50"


def node(number, cells, **tags):
    return (number, *degrees(cells, 0), tags)


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:00+02:00")

    def ask(nodes, *, step_free):
        town = "A" + " " * 40 + "B"
        street = ((1, *(each[0] for each in nodes), 2), {"highway": "footway"})
        network = network_of(town, LINE, ROWS, tmp_path, extra_nodes=nodes, extra_ways=[street])
        tools = asker(tmp_path, network)
        lat, lon = degrees(0.001, 0)
        question = {
            "origin": {"type": "coords", "value": {"lat": lat, "lon": lon}},
            "destination": {"type": "label", "value": "TEST:BETA"},
            "constraints": {"accessibility": {"stepFree": step_free}},
        }
        body = tools("plan_trip", question).body
        return [each["message"] for each in body.get("warnings", ()) if each["code"] == "preference-unmet"]

    return ask


@pytest.mark.parametrize(
    ("step_free", "unmet"),
    [(True, ["A kerb on the walk from Origin to Alpha is not known to be step-free."]), (False, [])],
)
def test_a_kerb_of_unknown_height_is_the_weakest_link_of_a_step_free_trip(plan, step_free, unmet):
    assert plan([node(50, 2, barrier="kerb"), node(51, 9, kerb="yes")], step_free=step_free) == unmet


@pytest.mark.parametrize(("wheelchair", "metres"), [("no", 900), ("limited", 700), ("yes", 700)])
def test_step_free_riders_walk_around_unfit_ways(tmp_path, wheelchair, metres):
    """From half a cell below A to half a cell below B: 700 m over the way with ``wheelchair=no``, 900 m round."""
    town = """
        A     B
        |     |
        C-----D
        """
    way = ((1, 2), {"highway": "path", "wheelchair": wheelchair})
    usual, step_free = (Town(town, tmp_path, profile, extra_ways=[way]) for profile in (PLAIN, NO_STEPS))

    assert (usual.walk(*ENDS)[0], step_free.walk(*ENDS)[0]) == (700, metres)


def test_a_line_through_an_entrance_is_drawn_through_it(tmp_path):
    rows = [stop_row("DEEP", (10, 2)), stop_row("FAR", (40, 0))]
    entrance = (50, *degrees(8, 0), {"railway": "subway_entrance"})
    network = network_of(STREET, "metro M | Deep 08:30 | Far 08:50", rows, tmp_path, extra_nodes=[entrance])
    line = network.walks.get_walks(step_free=False).find_line(
        degrees(1, 0), degrees(10, 2), (None, network.stops.find_row("TEST:DEEP"))
    )
    one = degrees(1, -1)
    cells = [(round(lon / one[1], 2), round(-lat / one[0], 2)) for lat, lon in line.tolist()]

    assert list(dict.fromkeys(cells)) == [(1, 0), (8, 0), (10, 2)]
