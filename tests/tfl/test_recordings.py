"""Answers recorded from TfL, as planJourney and the boards report them."""

import json

import pytest

from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Coordinate
from tests.shared_data import get_shared
from tests.tfl.asking import a_leg, asking, journeys, list_board, planning

AMBIGUOUS = [
    "Kings-Cross-Station_to_Liverpool-Street-Station",
    "Victoria_to_Blackfriars",
    "Victoria_to_Canterbury",
    "Victoria_to_Leeds-Castle",
    "Victoria_to_Stonehenge",
    "Victoria_to_Whitechapel",
]
JOURNEYS = "/Journey/JourneyResults/"


def recorded(name):
    told = json.loads(get_shared(f"api/tfl/{name}.json").read_text(encoding="utf-8"))
    if "response" in told:
        return told["response"]["json"]
    return json.loads(told["content"]) if "content" in told else told


@pytest.mark.parametrize("name", AMBIGUOUS)
async def test_every_recorded_300_becomes_accepted_suggestions(name, tmp_path):
    """J14, J16, J24, E1: the best five of each end in TfL's order; each value goes back into the path as it came."""
    told = recorded(f"journey_300_{name}")
    origin, destination = told["journeyVector"]["from"], told["journeyVector"]["to"]
    found = journeys(a_leg("09:05", "09:15", 10))
    async with planning({JOURNEYS: found, f"{JOURNEYS}{origin}/to/": (300, told)}, tmp_path) as (ask, server):
        body = (await ask(origin, destination)).body
        assert (body["success"], body["code"], body["topJourneys"]) == (False, "DISAMBIGUATION_REQUIRED", None)
        for field, end in (("fromLocationDisambiguation", "from"), ("toLocationDisambiguation", "to")):
            options = told[f"{end}LocationDisambiguation"]["disambiguationOptions"]
            expected = [
                {"parameterValue": each["parameterValue"], "matchQuality": each["matchQuality"]} for each in options
            ]
            assert body[field] == expected[:5]
            assert all(each["place"]["commonName"] in body["message"] for each in options[:5])
        chosen = [(each["parameterValue"], destination) for each in body["fromLocationDisambiguation"]]
        chosen += [("NW1 9HU", each["parameterValue"]) for each in body["toLocationDisambiguation"]]
        for one, other in chosen:
            assert (await ask(one, other)).body["code"] == "OK"
            assert f"{JOURNEYS}{one}/to/{other}" in server.paths


@pytest.mark.parametrize(
    ("name", "now", "expected"),
    [
        (
            "journey_200_2023-11-20",
            "2023-11-20T16:00:00Z",
            [
                (46, "2023-11-20T16:07:00+00:00", "2023-11-20T16:53:00+00:00", 4),
                (47, "2023-11-20T16:21:00+00:00", "2023-11-20T17:08:00+00:00", 4),
                (54, "2023-11-20T16:11:00+00:00", "2023-11-20T17:05:00+00:00", 6),
            ],
        ),
        (
            "journey_200_trimmed_2026",
            "2026-05-27T07:55:00Z",
            [
                (12, "2026-05-27T09:00:00+01:00", "2026-05-27T09:12:00+01:00", 2),
                (16, "2026-05-27T09:05:00+01:00", "2026-05-27T09:21:00+01:00", 1),
            ],
        ),
    ],
)
async def test_recorded_journeys_become_summaries_with_londons_offsets(name, now, expected, tmp_path, monkeypatch):
    """J12, A4: in winter and in summer; the cut recording says nothing of places, which a summary does not need."""
    monkeypatch.setenv("FINGERPOST_NOW", now)
    async with planning({JOURNEYS: recorded(name)}, tmp_path) as (ask, _):
        body = (await ask("NW1 9HU", "SE16 4JB")).body

    told = [
        (each["durationMinutes"], each["startDateTime"], each["arrivalDateTime"], each["legCount"])
        for each in body["topJourneys"]
    ]
    assert told == expected


async def test_a_recorded_404_of_no_places_is_not_an_empty_answer(tmp_path):
    """E2: only "no journey" is one; the caller is not to blame for a resource that TfL does not find."""
    told = (404, recorded("journey_404_empty_places"))
    async with planning({JOURNEYS: told}, tmp_path) as (ask, _):
        body = (await ask("x", "y")).body

    assert (body["success"], body["code"]) == (False, "UPSTREAM_ERROR")


async def test_a_recorded_station_is_itself():
    async with asking({"/StopPoint/940GZZLUASL": recorded("stopPointById_940GZZLUASL_None_StopPoint")}) as (network, _):
        place = await network.find_stop("tfl:940gzzluasl", whole_place=True)

    assert (place.id, place.name, place.member_ids) == (
        "TFL:940GZZLUASL",
        "Arsenal Underground Station",
        ("TFL:940GZZLUASL",),
    )


async def test_a_recorded_search_finds_common_names():
    async with asking({"/StopPoint/Search": recorded("stoppoint_search_green_park")}) as (network, _):
        (match,) = await network.find_places("green park")

    assert (match.place.id, match.score, match.place.coordinate) == (
        "TFL:940GZZLUGPK",
        1.0,
        Coordinate(51.506947, -0.142787),
    )


async def test_recorded_arrivals_become_rows(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2024-07-15T15:40:00Z")
    told = [each for each in recorded("arrivals_line_victoria_first20") if each["naptanId"] == "940GZZLUSKW"]
    status = recorded("lineStatusByMode_tube_None_Line")
    async with asking({"/StopPoint/940GZZLUSKW/Arrivals": told, "/Line/victoria/Status": status}) as (network, _):
        now = 1_721_058_000
        board = await list_board(network, "TFL:940GZZLUSKW", now, 3600)
    rows = list(board.departures)

    assert len(rows) == len({each["id"] for each in told}) > 0
    assert [row.expected for row in rows] == sorted(row.expected for row in rows)
    assert {(row.line, row.mode, row.departure_delay_s) for row in rows} == {("Victoria", Mode.METRO, None)}
    assert all(row.platform and row.last_realtime_update and row.last_realtime_update <= now for row in rows)


async def test_a_recorded_unknown_stop_is_not_found():
    async with asking({"/StopPoint/1A2B3C4D": (404, recorded("apierror_404_stoppoint"))}) as (network, _):
        assert await network.find_stop("TFL:1A2B3C4D") is None
