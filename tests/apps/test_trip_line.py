"""The small drawing of a trip's line at a terminal."""

import io

import pytest
from rich.console import Console

from fingerpost.apps.cli.trip_view import can_draw, draw_trip_line, print_trip


def leg(begin, end, mode="WALK", line=None, status=None):
    """Return a leg of plan_trip between two times of day."""
    times = {"departureTime": f"2026-03-10T{begin}:00+02:00", "arrivalTime": f"2026-03-10T{end}:00+02:00"}
    return {"mode": mode, **times, **({"line": line} if line else {}), **({"status": status} if status else {})}


TRIP = [leg("08:00", "08:10", "METRO", "M1"), leg("08:10", "08:20"), leg("08:20", "08:40", "RAIL", "E")]


def test_each_part_is_as_long_as_it_lasts():
    """Ten, ten and twenty minutes: of 23 columns beside the least that each needs they get 5, 5 and 11."""
    assert draw_trip_line(TRIP, 40).plain == "   ●━━━━M1━━━●┄┄┄┄┄┄┄┄●━━━━━━E━━━━━━━●"


@pytest.mark.parametrize("width", [24, 25, 40, 72])
def test_it_is_never_wider_than_the_terminal(width):
    """Names stay readable, and where nothing is left to share, the parts are as short as they can be."""
    drawn = draw_trip_line(TRIP, width).plain

    assert len(drawn) <= width
    assert "M1" in drawn
    assert drawn.count("●") == 4


def test_a_ride_without_a_line_is_drawn_under_its_mode():
    """A dotted line would be a walk."""
    assert draw_trip_line([leg("08:00", "08:10", "BUS")], 20).plain == "   ●━━━━━━BUS━━━━━━●"


def test_a_ride_without_a_line_is_printed_under_its_mode(capsys):
    """With where it goes from and to."""
    place = {"name": "A", "rawSource": "input", "coordinate": {"lat": 60.17, "lon": 24.94}}
    itinerary = {"legs": [{**leg("08:00", "08:10", "OTHER"), "from": place, "to": place, "duration": 600}]}
    print_trip(
        {
            "requested": {"type": "depart", "time": "2026-03-10T08:00:00+02:00"},
            "meta": {"timeZone": "Europe/Helsinki"},
            "origin": place,
            "destination": place,
            "itineraries": [{**itinerary, "totalDuration": 600, "numberOfTransfers": 0, "walkingDistance": 0}],
        }
    )

    assert "OTHER, from A to A at 08:10" in capsys.readouterr().out


def test_a_cancelled_ride_is_red():
    """As the word CANCELLED below it is."""
    drawn = draw_trip_line([leg("08:00", "08:10", "METRO", "M1", "cancelled")], 20)

    assert [span.style for span in drawn.spans] == ["bold red"]


@pytest.mark.parametrize(
    ("is_terminal", "encoding", "expected"), [(True, "utf-8", True), (True, "ascii", False), (False, "utf-8", False)]
)
def test_it_is_drawn_where_the_terminal_can(is_terminal, encoding, expected):
    """Not into pipes, and not with letters that would become question marks."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)

    assert can_draw(Console(file=stream, force_terminal=is_terminal)) is expected
