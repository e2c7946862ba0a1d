"""plan_trip: the results of the second query, the choice between equal itineraries, and long waits."""

import asyncio
from dataclasses import replace

import pytest

from fingerpost.errors import ParameterError, SourceFailed
from fingerpost.transit.model.provenance import Provenance, merge_provenance
from fingerpost.transit.networks.wrappers import CircuitBreakerNetwork, NetworkBreaker
from fingerpost.transit.tools import trip_search
from tests.contracts.test_plan_trip_answer import ENDS, bus, found
from tests.fakes import FakeNetwork
from tests.rules.drawing import T0, ride, trip, walk


def shown(over, *journeys, **more):
    body = over(FakeNetwork(journeys=journeys))("plan_trip", {**ENDS, **more}).body
    return body, {each["code"]: each["message"] for each in body.get("warnings", ())}


def test_a_scheduled_trip_is_shown_even_by_the_relaxed_query(over):
    """B5, B6: the first query finds nothing, and the relaxed query only a cancelled bus."""
    body, told = shown(over, found(), found(timetabled=(trip(bus(cancelled=True)),)))

    assert [each["DisruptionNote"] for each in body["itineraries"]] == ["Line 7 from A is cancelled."]
    assert "no-usable-itinerary" in told


def test_sentences_of_both_queries_are_shown_once():
    first = Provenance(network="T", source="fake", zone="UTC", retrieved_at=2, notes=("One.",), lost=("a",))
    merged = merge_provenance(first, replace(first, retrieved_at=1, notes=("Two.",)))

    assert (merged.notes, merged.lost, merged.retrieved_at) == (("One.", "Two."), ("a",), 1)


def test_the_scheduled_trip_is_named_with_its_alternatives(over):
    """P45, B5: a cancelled trip from the relaxed query comes after usable ones, with its note."""
    body, _ = shown(
        over,
        found(trip(bus("8", 30)), timetabled=(trip(bus(cancelled=True)),)),
        found(trip(bus("8", 30)), timetabled=(trip(bus("9", 40, cancelled=True)),)),
        limit=3,
    )

    assert [(each["legs"][0]["line"], each.get("DisruptionNote")) for each in body["itineraries"]] == [
        ("8", None), ("7", "Line 7 from A is cancelled."), ("9", "Line 9 from A is cancelled."),
    ]  # fmt: skip


def test_of_two_equal_itineraries_the_live_one_is_shown(over):
    """B7: a scheduled itinerary does not replace the equal one with realtime data."""
    live, promised = trip(bus(delay_s=60)), trip(bus())
    body, _ = shown(over, found(live, timetabled=(promised,)))

    assert [each["legs"][0].get("delaySeconds") for each in body["itineraries"]] == [60]


LONG_WAIT = "No usable trip departs soon; the first one departs at 2022-02-22T09:01:00+02:00."
EARLY = "No usable trip arrives shortly before the requested time; the last one arrives at 2022-02-22T08:15:00+02:00."


@pytest.mark.parametrize(
    ("minutes", "when", "message"),
    [
        (60, {}, None),
        (61, {}, LONG_WAIT),
        (5, {"when": {"type": "arrive", "time": "2022-02-22T09:15:00+02:00"}}, None),
        (5, {"when": {"type": "arrive", "time": "2022-02-22T09:16:00+02:00"}}, EARLY),
    ],
)
def test_more_than_an_hour_to_the_requested_time_is_reported(over, minutes, when, message):
    _, told = shown(over, found(trip(bus(departs=minutes))), **when)

    assert told == ({} if message is None else {"preference-unmet": message})


@pytest.mark.parametrize(("departs", "waiting"), [(76, "61 min"), (15 + 1203, "20 h 3 min")])
def test_more_than_an_hour_between_two_rides_is_reported(over, departs, waiting):
    _, told = shown(over, found(trip(ride("7", "A", "B", 5, 15), ride("8", "B", "C", departs, departs + 9))))

    assert told == {"preference-unmet": f"The longest wait between rides is {waiting}, at B."}


def test_the_next_usable_departure_is_looked_for_after_all_that_was_found(over):
    """B5: two cancelled trips leave at 08:05 and 08:20; the next search begins a second after the later one."""
    off = [trip(bus("7", 5, cancelled=True)), trip(bus("8", 20, cancelled=True))]
    network = FakeNetwork(journeys=[found(timetabled=off), found(), found(trip(bus("9", 60)))])
    over(network)("plan_trip", ENDS)

    assert network.journeys_asked[-1].instant == T0 + 20 * 60 + 1


def test_the_next_usable_departure_is_looked_for_after_a_failed_query_for_alternatives(over):
    _, told = shown(over, found(trip(bus(cancelled=True))), SourceFailed("503"), found(trip(bus("9", 60))))

    assert "The next usable trip leaves at 2022-02-22T09:00:00+02:00" in told["no-usable-itinerary"]


def test_a_refused_search_for_a_better_trip_costs_no_other_trip(over):
    """A server may refuse so much walking with any error."""
    _, told = shown(over, found(trip(bus(departs=61))), ParameterError("too far to walk"))

    assert told == {"preference-unmet": LONG_WAIT}


def test_a_better_trip_is_not_looked_for_with_too_little_time_left(over, monkeypatch):
    """The answer would be late, and count as a failure of the server."""
    monkeypatch.setattr(trip_search, "WIDER_LIMITS_TIMEOUT_S", 60)
    network = FakeNetwork(journeys=[found(trip(bus(departs=61)))])
    over(network)("plan_trip", ENDS)

    assert len(network.journeys_asked) == 1


class SilentBeyond(FakeNetwork):
    async def plan_journeys(self, query):
        if query.max_walk_m > 1500:
            await asyncio.Event().wait()
        return await super().plan_journeys(query)


def test_a_late_answer_about_a_better_trip_is_ignored(over, monkeypatch):
    monkeypatch.setattr(trip_search, "WIDER_LIMITS_TIMEOUT_S", 0)
    network = SilentBeyond(journeys=[found(trip(bus(departs=61)))])
    ask = over(CircuitBreakerNetwork(network, NetworkBreaker(threshold=1), "server"))

    assert [len(ask("plan_trip", ENDS).body["itineraries"]) for _ in range(2)] == [1, 1]


@pytest.mark.parametrize(
    ("takes", "arrives", "is_named"),
    [(30, 75, True), (30, 76, False), (10, 60, True), (10, 61, False), (90, 120, True), (90, 121, False)],
)
def test_a_better_trip_saves_half_of_the_trip_or_half_an_hour_and_ten_minutes(over, takes, arrives, is_named):
    """B6: the bus departs at minute 61."""
    better = trip(walk("home", "A", 0, 25, 2000), ride("8", "A", "B", 25, arrives))
    _, told = shown(over, found(trip(ride("7", "A", "B", 61, 61 + takes))), found(better))

    assert ("With 2000 m of walking" in told["preference-unmet"]) is is_named


class FallbackBeyond(FakeNetwork):
    async def plan_journeys(self, query):
        answer = await super().plan_journeys(query)
        lost = ("F answered.",) if query.max_walk_m > 1500 else ()
        return replace(answer, provenance=replace(answer.provenance, lost=lost))


def test_a_better_trip_of_a_fallback_is_labelled(over):
    better = trip(walk("home", "A", 0, 25, 2000), ride("8", "A", "B", 25, 35))
    network = FallbackBeyond(journeys=[found(trip(bus(departs=61))), found(better)])
    told = {each["code"]: each["message"] for each in over(network)("plan_trip", ENDS).body["warnings"]}

    assert "With 2000 m of walking" in told["preference-unmet"]
    assert told["network-left-out"] == "F answered."


@pytest.mark.parametrize(("departs", "is_named"), [(60, False), (61, True)])
def test_a_better_trip_than_the_next_usable_one_is_named_if_that_is_an_hour_away(over, departs, is_named):
    off, better = trip(bus(cancelled=True)), trip(walk("home", "A", 5, 30, 1800), ride("8", "A", "B", 30, 31))
    answers = [found(timetabled=(off,)), found(), found(trip(bus("9", departs))), found(better)]
    _, told = shown(over, *answers, when={"type": "arrive", "time": "2022-02-22T08:20:00+02:00"})

    assert ("With 1800 m of walking" in told.get("preference-unmet", "")) is is_named
