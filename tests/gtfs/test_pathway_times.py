"""Transfer times inside a station, computed from its pathways."""

import pytest

from fingerpost.transit.engine.timetable.footpaths import use_step_free_footpaths
from fingerpost.transit.engine.timetable.walks import CHANGE_SLACK_S, STRAIGHT_SLACK_S
from tests.gtfs.importing import import_text

# Two platforms of one station, eleven metres apart, a third in another station, a node, a door and a boarding area.
STOPS = (
    "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n"
    "P1,P1,60.1,24.9,0,C\nP2,P2,60.1001,24.9,0,C\nP3,P3,60.1001,24.9,0,D\n"
    "ALPHA,A,60.17,24.94,0,\nBETA,B,60.17,24.98,0,\nGAMMA,G,60.17,25,0,\n"
    "C,C,60.1,24.9,1,\nD,D,60.1,24.9,1,\nE,E,60.1,24.9,2,C\nN,,,,3,C\nB,,,,4,P2\n"
)
HEAD = "pathway_id,from_stop_id,to_stop_id,pathway_mode,is_bidirectional,traversal_time,length\n"
# Straight: 11.1 m times 1.3 is 15 m, twelve seconds and the slack.
STRAIGHT_S = 12 + CHANGE_SLACK_S


def foot_s(table, begin, end):
    ids = list(table.stop_local_id)
    rows = range(table.footpaths.first[ids.index(begin)], table.footpaths.first[ids.index(begin) + 1])
    return next((int(table.footpaths.seconds[row]) for row in rows if ids[table.footpaths.to[row]] == end), None)


def tables_of(ways, **more):
    rows = "".join(f"{number},{way}\n" for number, way in enumerate(ways, 1))
    return {"stops.txt": STOPS, "pathways.txt": HEAD + rows} | {f"{name}.txt": text for name, text in more.items()}


def there_and_back(tmp_path, *ways, **more):
    table = import_text(tmp_path, tables_of(ways, **more)).timetable
    return foot_s(table, "P1", "P2"), foot_s(table, "P2", "P1")


@pytest.mark.parametrize(
    ("ways", "seconds"),
    [
        (["P1,P2,1,1,300,"], (420, 420)),
        (["P1,N,2,1,60,", "N,P2,5,1,180,"], (360, 360)),
        # Of two ways the quicker one; what is walked one way only is no way back.
        (["P1,P2,5,1,180,", "P1,P2,4,0,30,"], (150, 300)),
        # One escalator up to platform 2, and nothing down: the way back is a guess.
        (["P1,P2,4,0,300,"], (420, STRAIGHT_S)),
        # On the flat a length tells the time, at 1.25 metres a second.
        (["P1,P2,1,1,,100"], (200, 200)),
        (["P1,B,1,1,100,"], (220, 220)),
        # A way through a gate could cost another fare; stairs without a time and more than half an hour do not count.
        (["P1,N,6,1,10,", "N,P2,1,1,10,"], (STRAIGHT_S, STRAIGHT_S)),
        (["P1,P2,2,1,,20"], (STRAIGHT_S, STRAIGHT_S)),
        (["P1,P2,1,1,1801,"], (STRAIGHT_S, STRAIGHT_S)),
    ],
)
def test_a_transfer_takes_as_long_as_its_pathways(tmp_path, ways, seconds):
    assert there_and_back(tmp_path, *ways) == seconds


def test_pathways_between_two_stations_do_not_count(tmp_path):
    table = import_text(tmp_path, tables_of(["P1,P3,1,1,600,"])).timetable

    assert foot_s(table, "P1", "P3") == STRAIGHT_S + STRAIGHT_SLACK_S


def test_a_transfer_time_overrides_the_pathways(tmp_path):
    transfers = "from_stop_id,to_stop_id,transfer_type,min_transfer_time\nP1,P2,2,45\n"

    assert there_and_back(tmp_path, "P1,P2,1,1,300,", transfers=transfers) == (45, 300 + CHANGE_SLACK_S)


def test_a_transfer_without_a_time_leaves_it_to_the_pathways(tmp_path):
    transfers = "from_stop_id,to_stop_id,transfer_type\nP1,P2,0\nP2,P1,1\n"

    assert there_and_back(tmp_path, "P1,P2,1,1,300,", transfers=transfers) == (420, 300)


STAIRS, LIFT = "P1,P2,2,1,60,", "P1,P2,5,1,300,"


@pytest.mark.parametrize(
    ("ways", "rule", "seconds"),
    [
        ([STAIRS], "", None),
        (["P1,P2,2,1,,20"], "", None),
        ([STAIRS, LIFT], "", 420),
        # A minimum time is that of typical riders.
        ([STAIRS], "P1,P2,2,60\n", None),
        ([STAIRS, LIFT], "P1,P2,2,60\n", 300),
        ([STAIRS, LIFT], "P1,P2,2,600\n", 600),
    ],
)
def test_a_step_free_transfer_never_takes_stairs(tmp_path, ways, rule, seconds):
    transfers = f"from_stop_id,to_stop_id,transfer_type,min_transfer_time\n{rule}"
    table = import_text(tmp_path, tables_of(ways, transfers=transfers)).timetable

    assert foot_s(use_step_free_footpaths(table), "P1", "P2") == seconds


@pytest.mark.parametrize(("ways", "seconds"), [([STAIRS], -1), ([STAIRS, LIFT], 300), ([LIFT], 60)])
def test_a_step_free_transfer_with_a_rule_for_a_route_takes_the_detour_around_stairs(tmp_path, ways, seconds):
    transfers = "from_stop_id,to_stop_id,from_route_id,transfer_type,min_transfer_time\nP1,P2,A,2,60\n"
    table = use_step_free_footpaths(import_text(tmp_path, tables_of(ways, transfers=transfers)).timetable)

    assert table.specific_transfer_s.tolist() == [seconds]
