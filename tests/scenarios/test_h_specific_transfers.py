"""Chapter H: transfers with rules for specific trips or lines."""

import pytest

from tests.scenarios.riding import ride

DRAWING = """
line A | Alpha 08:00 | Beta 08:10
line B | Beta 08:13 | Gamma 08:30
line B | Beta 08:20 | Gamma 08:40
"""
HEAD = "from_stop_id,to_stop_id,from_route_id,to_route_id,from_trip_id,to_trip_id,transfer_type,min_transfer_time\n"
AT_BETA = "BETA,BETA"


def cross(*rules, drawing=DRAWING):
    """Return when line B is boarded, for rules such as ``A,B,,,2,300`` at Beta."""
    rows = "".join(f"{AT_BETA},{rule}\n" for rule in rules)
    found = ride(drawing, "Alpha", "Gamma", "07:50", tables={"transfers.txt": HEAD + rows})
    return [line.split(" B Gamma ")[0].rpartition(" ")[2] for line in found]


LATE = DRAWING.replace("08:10", "08:13")


@pytest.mark.parametrize(
    ("drawing", "rules", "boards"),
    [
        pytest.param(DRAWING, [], ["08:13"], id="h01: without a rule two minutes are enough"),
        pytest.param(DRAWING, ["A,B,,,3,"], [], id="h02: a change between two lines may be forbidden"),
        pytest.param(DRAWING.replace("line A", "line X"), ["X,B,,,3,"], [], id="h02: also from a line X"),
        pytest.param(DRAWING, ["B,A,,,3,"], ["08:13"], id="h02: the other direction is as before"),
        pytest.param(DRAWING, [",,,B-1,2,180"], ["08:13"], id="h03: a change to one trip may take longer"),
        pytest.param(DRAWING, [",,,B-1,2,181"], ["08:20"], id="h03: a second more, and only the second trip is left"),
        pytest.param(LATE, [], ["08:20"], id="h04: 08:13 to 08:13 is too short"),
        pytest.param(LATE, [",,A-1,B-1,1,"], ["08:13"], id="h04: a timed change needs no time, as the trip waits"),
        pytest.param(LATE, [",,A-1,B-2,1,"], ["08:20"], id="h04: it holds for no other trip"),
        pytest.param(DRAWING, [",,,,3,"], [], id="h06: the stop forbids changing"),
        pytest.param(DRAWING, [",,,,3,", "A,,,,2,60"], ["08:13"], id="h06: a rule of a line beats that of the stop"),
        pytest.param(DRAWING, ["A,B,,,3,", "A,B,,,2,0"], ["08:13"], id="h07: of equals the later holds"),
    ],
)
def test_a_change_follows_the_rules_of_the_feed(drawing, rules, boards):
    assert cross(*rules, drawing=drawing) == boards


RANKS = [",,A-1,B-1", ",B,A-1,", ",,A-1,", "A,B,,", "A,,,"]


@pytest.mark.parametrize("rank", range(4))
def test_h05_the_more_specific_rule_applies(rank):
    """Trip and trip, trip and line, trip, line and line, line: each stands before those after it, in either order."""
    high, low = RANKS[rank : rank + 2]
    for rules in ((f"{high},2,0", f"{low},3,"), (f"{low},3,", f"{high},2,0")):
        assert "08:13" in cross(*rules)
    for rules in ((f"{high},3,", f"{low},2,0"), (f"{low},2,0", f"{high},3,")):
        assert "08:13" not in cross(*rules)


def test_h08_it_applies_to_arrivals_too():
    rows = f"{AT_BETA},A,,,B-1,3,\n"
    found = ride(DRAWING, "Alpha", "Gamma", "08:40", tables={"transfers.txt": HEAD + rows}, arrive_by=True)
    assert found == ["Alpha 08:00 A Beta 08:10 Beta 08:20 B Gamma 08:40"]


def test_h09_between_two_stops():
    """Bay is too far to walk; for lines A and B the feed has a way of four minutes, for line C none."""
    drawing = """
    line A | Alpha 08:00 | Beta 08:10
    line C | Alpha 08:01 | Beta 08:10
    line B | Bay 08:14 | Gamma 08:30
    """
    tables = {"transfers.txt": HEAD + "BETA,BAY,A,B,,,2,240\n"}
    asked = {"tables": tables, "max_walk_m": 2000.0}
    assert ride(drawing, "Alpha", "Gamma", "07:50", **asked)[0].startswith("Alpha 08:00 A Beta 08:10 walk ")
    assert ride(drawing.replace("line A", "line D"), "Alpha", "Gamma", "07:50", **asked) == []
