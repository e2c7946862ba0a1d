"""Messages that are valid protobuf but contain absurd numbers and strings."""

from google.transit.gtfs_realtime_pb2 import FeedMessage, TripDescriptor
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.engine.gtfs.realtime.messages import APPLIED, FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from tests.feeds import timetable_from_drawing
from tests.realtime.messages import NOW, alert, at, call, read, update

LINES = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10 | Alpha 08:20\nline B | Beta 09:00 | Gamma 09:10")
INDEX = RealtimeIndex(LINES)

SMALL, LARGE = (1 << 31) - 1, (1 << 63) - 1
TIMES = st.sampled_from([0, 1, -1, at("08:05"), at("08:30"), NOW * 1000, LARGE, -LARGE - 1])
DELAYS = st.sampled_from([0, 60, -60, SMALL, -SMALL - 1, 43_200, 43_201])
STOPS = st.sampled_from(["", "ALPHA", "BETA", "GAMMA", "OMEGA", "A" * 1000])
DAYS = st.sampled_from(["", "20260310", "20261310", "00010101", "99991231", "2026031", "٢٠٢٦٠٣١٠"])
CLOCKS = st.sampled_from(["", "08:00:00", "8:00:00", "99:99:99", "08:00", "-1:00:00", "999999999:00:00"])


def event(draw, made):
    if draw(st.booleans()):
        made.time = draw(TIMES)
    if draw(st.booleans()):
        made.delay = draw(DELAYS)
    if draw(st.booleans()):
        made.scheduled_time = draw(TIMES)


@st.composite
def messages(draw):
    message = FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    message.header.timestamp = draw(st.sampled_from([0, NOW, NOW - 86_400, (1 << 64) - 1]))
    for number in range(draw(st.integers(1, 4))):
        update = message.entity.add(id=str(number)).trip_update
        trip = update.trip
        trip.trip_id = draw(st.sampled_from(["A-1", "B-1", "X-1", ""]))
        trip.route_id = draw(st.sampled_from(["", "A", "B", "C"]))
        trip.start_date, trip.start_time = draw(DAYS), draw(CLOCKS)
        trip.schedule_relationship = draw(st.sampled_from(TripDescriptor.ScheduleRelationship.values()))
        update.trip_properties.start_date, update.trip_properties.start_time = draw(DAYS), draw(CLOCKS)
        if draw(st.booleans()):
            update.delay = draw(DELAYS)
        for _ in range(draw(st.integers(0, 4))):
            call = update.stop_time_update.add(stop_id=draw(STOPS))
            call.schedule_relationship = draw(st.integers(0, 3))
            if draw(st.booleans()):
                call.stop_sequence = draw(st.sampled_from([0, 1, 2, 3, 4, (1 << 32) - 1]))
            event(draw, call.arrival)
            event(draw, call.departure)
            call.stop_time_properties.assigned_stop_id = draw(STOPS)
    return message


@settings(max_examples=200, deadline=None)
@given(messages())
def test_absurd_values_are_counted_and_never_fatal(message):
    told = read_realtime(INDEX, [FeedBytes(message.SerializeToString(), NOW)], NOW)
    assert sum(told.counts.values()) == len(message.entity)
    for ride in told.added:
        times = [time for pair in zip(ride.arrival.tolist(), ride.departure.tolist(), strict=True) for time in pair]
        assert times == sorted(times)
    for (run, _), ride in told.rides.items():
        first, last = int(LINES.trip_first_stop_time[run]), int(LINES.trip_first_stop_time[run + 1])
        arrivals = (LINES.stop_time_arrival_s[first:last] + ride.arrival_delay_s).tolist()
        departures = (LINES.stop_time_departure_s[first:last] + ride.departure_delay_s).tolist()
        times = [time for pair in zip(arrivals, departures, strict=True) for time in pair]
        assert times == sorted(times)
    applied = sum(count for reason, count in told.counts.items() if reason in APPLIED)
    assert applied >= len(told.rides)


def test_many_updates_of_a_stop_served_twice_are_counted_as_unmatched():
    """Searching the other updates for each would take minutes."""
    told = read(LINES, update("A-1", *[call("ALPHA")] * 100_000))
    assert dict(told.counts) == {"trip-calls-unmatched": 1}


def test_all_of_many_alerts_are_read():
    """Comparing each alert with all others would take minutes."""
    told = read(LINES, *(alert(str(number), route_id="A") for number in range(20_000)))
    assert dict(told.counts) == {"alert-given": 20_000}
