"""How delays spread along a ride (GTFS-Realtime reference, TripUpdate and StopTimeUpdate)."""

import random
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.testing.feeds import feed_from_drawing, timetable_from_drawing, timetable_from_tables
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from tests.realtime.messages import DAY, ZONE, at, call, draw, read, update
from tests.realtime.oracle import Expected, Told, expect

SPRING = date(2026, 3, 29)
FOUR_STOPS = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10-08:12 | Gamma 08:20-08:21 | Delta 08:30")


def drawn(*calls, **told):
    return draw(FOUR_STOPS, read(FOUR_STOPS, update("A-1", *calls, **told)))


def with_delay(made):
    made.arrival.delay = 60
    return made


@pytest.mark.parametrize(
    ("calls", "delay", "expected"),
    [
        pytest.param(
            [call("BETA", 120, 120)], None,
            "Alpha 08:00 ? | Beta 08:12-08:14 | Gamma 08:22-08:23 | Delta 08:32",
            id="a delay holds for all later stop times, and nothing is known before",
        ),
        pytest.param(
            [with_delay(call("DELTA", "08:35"))], None,
            "Alpha 08:00 ? | Beta 08:10-08:12 ? | Gamma 08:20-08:21 ? | Delta 08:35",
            id="a time wins over a delay",
        ),
        pytest.param(
            [call("ALPHA", None, 300), call("BETA", None, "08:13")], None,
            "Alpha 08:05 | Beta 08:13 | Gamma 08:21-08:22 | Delta 08:31",
            id="a departure alone leaves the arrival to the carried delay, but no vehicle arrives after it leaves",
        ),
        pytest.param(
            [call("BETA", None, 120)], None,
            "Alpha 08:00 ? | Beta 08:12-08:14 | Gamma 08:22-08:23 | Delta 08:32",
            id="the first departure alone tells the arrival too",
        ),
        pytest.param(
            [call("ALPHA", None, 300), call("GAMMA", relationship="NO_DATA")], None,
            "Alpha 08:05 | Beta 08:15-08:17 | Gamma 08:20-08:21 ? | Delta 08:30 ?",
            id="no data ends what is known",
        ),
        pytest.param(
            [call("ALPHA", None, 120), call("BETA", 900, 900, relationship="SKIPPED")], None,
            "Alpha 08:02 | Beta 08:12-08:14 skip | Gamma 08:22-08:23 | Delta 08:32",
            id="a skipped stop passes the delay on, not its own times",
        ),
        pytest.param(
            [call("GAMMA", 60, 60)], 180,
            "Alpha 08:03 | Beta 08:13-08:15 | Gamma 08:21-08:22 | Delta 08:31",
            id="the delay of the trip holds until the first that is stated",
        ),
        pytest.param(
            [call("BETA", "07:59:59", "08:12")], None,
            "Alpha 07:59:59 ? | Beta 07:59:59-08:12 | Gamma 08:20-08:21 | Delta 08:30",
            id="an unknown time is never after the next known one",
        ),
        pytest.param(
            [call("BETA", "08:20", "08:22"), call("GAMMA", "08:20", "08:21")], None,
            "Alpha 08:00 ? | Beta 08:20-08:22 | Gamma 08:22 | Delta 08:30",
            id="time never runs backwards",
        ),
        pytest.param(
            [call("ALPHA", None, 60), call("BETA")], None,
            "Alpha 08:01 | Beta 08:11-08:13 | Gamma 08:21-08:22 | Delta 08:31",
            id="a stop time update without times has no effect",
        ),
    ],
)  # fmt: skip
def test_delays_are_carried_along_the_trip(calls, delay, expected):
    assert drawn(*calls, delay=delay) == expected


@pytest.mark.parametrize(("delay_s", "outcome"), [(12 * 3600, "trip-updated"), (12 * 3600 + 1, "trip-calls-unmatched")])
def test_half_a_day_is_the_longest_delay(delay_s, outcome):
    assert dict(read(FOUR_STOPS, update("A-1", call("DELTA", delay_s))).counts) == {outcome: 1}


def test_an_empty_update_changes_nothing():
    overlay = read(FOUR_STOPS, update("A-1"))
    assert (dict(overlay.rides), dict(overlay.counts)) == ({}, {"trip-without-times": 1})


def test_times_are_right_on_the_night_of_the_clock_change():
    """On 29 March 2026 the service day begins at 23:00 of the day before, noon minus 12 h: 04:00 is 4 h after that."""
    night = timetable_from_drawing("line A | Alpha 04:00 | Beta 04:30")
    told = call("BETA")
    told.arrival.time = at("04:31", day=SPRING)
    overlay = read(night, update("A-1", told, day="20260329"), now=at("03:59", day=SPRING), timestamp=0)
    assert draw(night, overlay, day=SPRING) == "Alpha 04:00 ? | Beta 04:31"


def random_network(seed: int, trips: int = 12):
    dice = random.Random(seed)
    rows, planned = ["trip_id,stop_id,stop_sequence,arrival_time,departure_time"], []
    for trip in range(trips):
        clock, calls = 8 * 3600 + 60 * dice.randrange(60), []
        for sequence in range(dice.randint(2, 7)):
            arrival = clock + 60 * dice.randrange(0, 6)
            clock = departure = arrival + dice.choice([0, 0, 60, 120])
            calls.append((arrival, departure))
            rows.append(f"T{trip},{dice.choice(['ALPHA', 'BETA'])},{3 * sequence},{_text(arrival)},{_text(departure)}")
        planned.append(calls)
    feed = feed_from_drawing("line A | Alpha 08:00 | Beta 08:10")
    feed["trips.txt"] = "\n".join(["route_id,service_id,trip_id", *(f"A,ALL,T{trip}" for trip in range(trips))])
    return timetable_from_tables(feed | {"stop_times.txt": "\n".join(rows)}), planned


def _text(seconds: int) -> str:
    return f"{seconds // 3600}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


NETWORKS = [random_network(seed) for seed in range(4)]
DELAYS = st.integers(-900, 1800)
TOLD = st.one_of(
    st.just(Told()),
    st.just(Told("silent")),
    st.just(Told("skipped")),
    st.builds(Told, st.just("times"), DELAYS, DELAYS),
    st.builds(Told, st.just("times"), DELAYS, st.none()),
    st.builds(Told, st.just("times"), st.none(), DELAYS),
)
KINDS = {"times": "SCHEDULED", "skipped": "SKIPPED", "silent": "NO_DATA"}


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(NETWORKS), st.data())
def test_expected_times_agree_with_the_oracle(network, data):
    timetable, planned = network
    start = find_service_day_start(DAY, ZONE)
    entities, expected = [], {}
    for trip, calls in enumerate(planned):
        told = data.draw(st.lists(TOLD, min_size=len(calls), max_size=len(calls)))
        trip_delay_s = data.draw(st.one_of(st.none(), DELAYS))
        as_times = data.draw(st.booleans())
        made = []
        for row, each in enumerate(told):
            if each.kind != "none":
                one = call(sequence=3 * row, relationship=KINDS[each.kind])
                for event, delay_s, time in (
                    (one.arrival, each.arrival_s, calls[row][0]),
                    (one.departure, each.departure_s, calls[row][1]),
                ):
                    if delay_s is not None and as_times:
                        event.time = start + time + delay_s
                    elif delay_s is not None:
                        event.delay = delay_s
                made.append(one)
        if made or trip_delay_s is not None:
            entities.append(update(f"T{trip}", *made, delay=trip_delay_s))
            expected[trip, DAY.toordinal()] = expect(calls, told, trip_delay_s)

    actual = {
        (trip, day): [
            Expected(arrival + early, departure + late, known)
            for (arrival, departure), early, late, known in zip(
                planned[trip],
                ride.arrival_delay_s.tolist(),
                ride.departure_delay_s.tolist(),
                ride.is_known.tolist(),
                strict=True,
            )
        ]
        for (trip, day), ride in read(timetable, *entities).rides.items()
    }
    assert actual == expected
    for calls in actual.values():
        times = [time for each in calls for time in each[:2]]
        assert times == sorted(times)
