"""Random rides with random updates: the arithmetic on columns agrees with the oracle, and time never runs back."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.testing.feeds import feed_from_drawing, timetable_from_tables
from fingerpost.transit.engine.timetable.service_days import service_day_start
from tests.realtime.messages import DAY, ZONE, call, read, update
from tests.realtime.oracle import Expected, Told, expect


def random_network(seed: int, trips: int = 12):
    """Return the tables of trips of 2 to 7 calls, times in minutes, and their planned (arrival, departure) times."""
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
    """Every trip of a network is updated at once, some with times, some with delays."""
    timetable, planned = network
    start = service_day_start(DAY, ZONE)
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
