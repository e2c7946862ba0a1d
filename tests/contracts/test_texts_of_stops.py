"""The complete texts of boards, look-ups and variables (rule A11)."""

import pytest

from fingerpost.transit.model.itinerary import Mode, NearbyStop, StopPoint
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch
from tests.contracts.conftest import board_of, leaving
from tests.contracts.test_find_stops_contract import CENTRE, near
from tests.contracts.test_get_departures_contract import STOP
from tests.fakes import FakeNetwork


def test_a_board_is_printed_row_by_row(over):
    rows = (
        leaving(5, "1"),
        leaving(6, "2", departure_delay_s=60),
        leaving(7, "3", departure_delay_s=180, platform="4"),
        leaving(12, "5", cancelled=True),
    )
    text = over(board_of(*rows))("get_departures", {**STOP, "limit": 3}).text

    assert text.splitlines() == [
        "Departures from A (T:A), Europe/Helsinki:",
        "08:05 TRAM 1 to B",
        "08:06 TRAM 2 to B (on time, 60 s late)",
        "08:07 TRAM 3 to B, platform 4 (expected 08:10, 180 s late)",
        "! 4 departures are in the window; the first 3 are shown.",
    ]
    assert "08:12 TRAM 5 to B CANCELLED" in over(board_of(*rows))("get_departures", STOP).text


def test_an_empty_board_is_reported(over):
    assert over(board_of())("get_departures", STOP).text == (
        "Departures from A (T:A), Europe/Helsinki:\nNo departures in the window."
    )


def test_a_row_after_midnight_has_its_date(over, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2022-02-22T23:50:00+02:00")
    text = over(board_of(leaving(965, departure_delay_s=120)))("get_departures", STOP).text

    assert text.splitlines()[1] == "2022-02-23 00:05 TRAM 7 to B (expected 2022-02-23 00:07, 120 s late)"


def test_approximate_times_and_rides_by_arrangement_have_warnings(over):
    text = over(board_of(
        leaving(5, "1", headway_s=600), leaving(15, "1", headway_s=600), leaving(6, "2", by_arrangement=True),
        leaving(7, "3", is_interpolated=True),
    ))("get_departures", STOP).text  # fmt: skip

    assert text.splitlines()[5:] == [
        "! Line 1 runs about every 10 min; its times are approximate.",
        "! Line 2 must be booked with the operator, or requested from the driver.",
        "! Some times are approximate; they are interpolated because the feed has no times for those stops.",
    ]


def test_nearby_stops_are_listed_with_their_lines(over):
    network = FakeNetwork(near=[near("Market", 99.6, Mode.TRAM, Mode.BUS, Mode.COACH), near("Old Pier", 120.2)])
    bare = NearbyStop(
        stop=StopPoint(name="Pier", coordinate=Coordinate(60.17, 24.94), id="T:P"), distance_m=7, modes=()
    )

    assert over(network)("find_stops", {"coordinate": CENTRE, "maxResults": 1}).text.splitlines() == [
        "Market (T:MARKET), 100 m, BUS, TRAM, at 60.17,24.94",
        "! 2 stops are nearby; the nearest 1 is shown.",
    ]
    assert over(FakeNetwork(near=[bare]))("find_stops", {"coordinate": CENTRE}).text == (
        "Pier (T:P), 7 m, no service, at 60.17,24.94"
    )
    assert over(FakeNetwork())("find_stops", {"coordinate": CENTRE}).text == "No stops found."


def place(name, score, stop_id=None, locality=None):
    kind = PlaceKind.ADDRESS if stop_id is None else PlaceKind.STOP
    members = () if stop_id is None else (stop_id,)
    found = Place(
        id=stop_id, name=name, coordinate=Coordinate(60.1234567, 24.9), kind=kind, member_ids=members,
        locality=locality, names={"sv": f"{name} sv"},
    )  # fmt: skip
    return PlaceMatch(place=found, score=score)


def test_a_place_that_is_sure_is_one_line(over):
    network = FakeNetwork(places={"Market": [place("Market", 0.98765, "T:M", "Helsinki")]})
    answer = over(network)("findAddressOrStop", {"rawText": "Market"})

    assert answer.text == "Market, Helsinki (T:M), stop at 60.123457,24.9, score 0.9877"
    assert answer.body == {
        "id": "T:M", "name": "Market", "primaryLanguage": "default", "names": {"sv": "Market sv"}, "type": "STOP",
        "coordinate": {"lat": 60.123457, "lon": 24.9}, "confidenceScore": 0.9877, "locality": "Helsinki",
        "rawQuery": "Market",
    }  # fmt: skip


@pytest.mark.parametrize(("count", "shown", "truncated"), [(5, 5, False), (6, 5, True)])
def test_places_to_choose_from_are_lines_with_their_tokens(over, count, shown, truncated):
    matches = [place("Mark", 0.7), *(place(f"M{n}", 0.65, f"T:{n}") for n in range(1, count))]
    answer = over(FakeNetwork(places={"m": matches}))("findAddressOrStop", {"rawText": "m"})
    text = answer.text.splitlines()
    more = ", of which 5 are shown; use a longer name to see others"

    assert text[:3] == [
        f"No certain match; {count} candidates{more * truncated}. Choose one and send its id or lat,lon:",
        "Mark (60.123457,24.900000), address at 60.123457,24.9, score 0.7",
        "M1 (T:1), stop at 60.123457,24.9, score 0.65",
    ]
    assert (len(text) - 1, answer.body["totalCandidatesFound"], answer.body["truncated"]) == (shown, count, truncated)


def test_saved_values_are_reported(demo, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:00Z")
    assert demo("get_user_variables", {}).text == "No variables are saved."
    save = {"key": "home", "type": "other", "value": "T:A"}
    assert demo("save_user_variable", save).text == "Saved 'home', type other: T:A, saved 2026-03-10T08:00:00+00:00."
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:01Z")
    times = "saved 2026-03-10T08:00:00+00:00, changed 2026-03-10T08:00:01+00:00"
    again = demo("save_user_variable", {**save, "type": "preference"})
    assert (again.text, again.body["previous"]) == (
        f"Saved 'home', type preference: T:A, {times} (replaced the previous value).", {"key": "home", "type": "other"},
    )  # fmt: skip
    demo("save_user_variable", {**save, "key": "work"})
    assert demo("get_user_variables", {}).text == (
        f"home (preference): T:A, {times}\nwork (other): T:A, saved 2026-03-10T08:00:01+00:00"
    )
    assert demo("delete_user_variable", {"key": "home"}).text == "Deleted: home."
    assert demo("delete_user_variable", {"key": "home"}).text == "There was nothing to delete."
