"""Answers as a person reads them at 80 columns, in a pipe, without colour."""

import pytest

from fingerpost.apps.cli.trip_view import print_trip

META = {"timeZone": "Europe/Helsinki", "attribution": ["HSL"]}
POINT = {"lat": 60.17, "lon": 24.94}


def lines_of(capsys):
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def at(time, day="2026-03-10"):
    return f"{day}T{time}:00+02:00"


def stop(name, platform=None):
    return {"name": name, "coordinate": POINT} | ({"platform": platform} if platform else {})


def ride(line, begin, departs, end, arrives, **more):
    return {
        "mode": "TRAM",
        "line": line,
        "from": begin,
        "to": end,
        "departureTime": departs,
        "arrivalTime": arrives,
        "duration": 300,
        **more,
    }


def walk(metres, seconds, departs, arrives, to):
    return {
        "mode": "WALK",
        "from": stop("Here"),
        "to": stop(to),
        "departureTime": departs,
        "arrivalTime": arrives,
        "duration": seconds,
        "distance": metres,
    }


def trip(legs, *, day="2026-03-10", **more):
    itinerary = {
        "legs": legs,
        "totalDuration": 1500,
        "numberOfTransfers": sum("line" in leg for leg in legs) - 1,
        "walkingDistance": 250,
        **more,
    }
    return {
        "origin": {"coordinate": POINT, "rawSource": "user-variable", "label": "home"},
        "destination": {"coordinate": POINT, "rawSource": "geocode", "label": "beta", "name": "Beta"},
        "requested": {"type": "depart", "time": at("08:00", day)},
        "itineraries": [itinerary],
        "meta": META,
    }


def test_a_trip_tells_walks_lines_directions_platforms_changes_and_waits(capsys):
    """A trip tells walks, lines, directions, platforms, changes and waits."""
    print_trip(
        trip(
            [
                walk(250, 180, at("08:00"), at("08:03"), "Alpha"),
                ride("4", stop("Alpha", "2"), at("08:05"), stop("Beta"), at("08:10"), headsign="Harbour"),
                ride("9", stop("Beta", "B"), at("08:15"), stop("Gamma"), at("08:25")),
            ]
        )
    )

    assert lines_of(capsys) == [
        "home to Beta",
        "leave after 08:00, today (Europe/Helsinki)",
        "",
        "1. 08:00 to 08:25  25 min, 1 change, 250 m on foot",
        "   08:00  walk 250 m, 3 min to Alpha",
        "          wait 2 min",
        "   08:05  TRAM 4 towards Harbour, from Alpha (platform 2) to Beta at 08:10",
        "          wait 5 min",
        "   08:15  TRAM 9, from Beta (platform B) to Gamma at 08:25",
        "   08:25  arrive",
        "",
        "Data: HSL",
    ]


def test_another_day_is_named_and_so_is_the_day_after_it(capsys):
    """Another day is named and so is the day after it."""
    legs = [ride("N1", stop("Alpha"), at("23:50", "2026-03-14"), stop("Beta"), at("00:20", "2026-03-15"))]
    print_trip(trip(legs, day="2026-03-14"))

    shown = lines_of(capsys)
    assert shown[1] == "leave after 08:00, Sat 14 Mar 2026 (Europe/Helsinki)"
    assert shown[3] == "1. 23:50 to Sun 15 Mar 00:20  25 min, no changes, 250 m on foot"


@pytest.mark.parametrize(
    ("status", "delay_s", "observed"),
    [
        ("scheduled_only", None, ""),
        ("on_time", 60, "  on time"),
        ("delayed", 240, "  4 min late"),
        ("delayed", -120, "  2 min early"),
        ("cancelled", None, "  CANCELLED"),
    ],
)
def test_a_ride_tells_how_it_runs(capsys, status, delay_s, observed):
    """A ride tells how it runs."""
    more = {"status": status} | ({} if delay_s is None else {"delaySeconds": delay_s})
    print_trip(trip([ride("4", stop("Alpha"), at("08:05"), stop("Beta"), at("08:10"), **more)]))

    assert lines_of(capsys)[4] == f"   08:05  TRAM 4, from Alpha to Beta at 08:10{observed}"


def test_a_disrupted_trip_says_so_at_its_head(capsys):
    """A disrupted trip says so at its head."""
    legs = [ride("4", stop("Alpha"), at("08:05"), stop("Beta"), at("08:10"))]
    print_trip(trip(legs, DisruptionNote="Tram 4 at 08:05 is cancelled"))

    assert lines_of(capsys)[4] == "   Tram 4 at 08:05 is cancelled"


def test_warnings_notes_and_whose_data_it_is_stand_at_the_end(capsys):
    """Warnings, notes and whose data it is stand at the end."""
    body = trip([walk(250, 180, at("08:00"), at("08:03"), "Beta")])
    body["warnings"] = [{"code": "truncated-results", "message": "5 were found; 1 is shown."}]
    body["meta"] = META | {"notes": ["Demo network."]}
    print_trip(body)

    assert lines_of(capsys)[-4:] == ["", "! 5 were found; 1 is shown.", "! Demo network.", "Data: HSL"]


def test_names_are_printed_as_they_are(capsys):
    """Square brackets are no mark-up, and a smiley's name is none."""
    print_trip(trip([walk(250, 180, at("08:00"), at("08:03"), "[red]Beta :bus:")]))

    assert lines_of(capsys)[4] == "   08:00  walk 250 m, 3 min to [red]Beta :bus:"
