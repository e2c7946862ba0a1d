"""Which call of a trip a stop time update means."""

from fingerpost.testing.feeds import feed_from_drawing, timetable_from_drawing, timetable_from_tables
from tests.realtime.messages import call, draw, read, update

LOOP = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20 | Alpha 08:30")

STATION = """stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,platform_code
HUB,Hub,60.17,24.94,1,,
P1,Hub 1,60.17,24.94,0,HUB,1
P2,Hub 2,60.17,24.941,0,HUB,2
END,End,60.17,25.1,0,,
"""
TIMES = """trip_id,stop_id,stop_sequence,arrival_time,departure_time
A-1,END,5,08:00:00,08:00:00
A-1,P1,10,08:10:00,08:10:00
A-1,END,20,08:30:00,08:30:00
"""


def gapped():
    """A trip from End to platform 1 of Hub and back, whose sequence is 5, 10, 20."""
    feed = feed_from_drawing("line A | End 08:00 | Hub 08:10")
    return timetable_from_tables(feed | {"stops.txt": STATION, "stop_times.txt": TIMES})


def test_a_sequence_with_gaps_is_matched_exactly():
    """Sequence 20 is the third call, not the twentieth."""
    told = read(gapped(), update("A-1", call(arrive=60, sequence=20)))
    assert draw(gapped(), told) == "End 08:00 ? | Hub 1 08:10 ? | End 08:31"


def test_a_sequence_that_the_trip_has_not_is_counted():
    """There is no sequence 11."""
    told = read(gapped(), update("A-1", call(arrive=60, sequence=11)))
    assert (dict(told.stop_time_counts), dict(told.counts)) == (
        {"call-not-of-this-trip": 1},
        {"trip-calls-unmatched": 1},
    )


def test_sequence_zero_is_a_sequence():
    """A trip may be numbered from 0, which is also what protobuf says where nothing is told."""
    feed = feed_from_drawing("line A | Alpha 08:00 | Beta 08:10")
    feed["stop_times.txt"] = feed["stop_times.txt"].replace(",1,08", ",0,08").replace(",2,08", ",1,08")
    timetable = timetable_from_tables(feed)
    told = read(timetable, update("A-1", call(depart=60, sequence=0)))
    assert draw(timetable, told) == "Alpha 08:01 | Beta 08:11"


def test_a_stop_alone_is_enough_where_the_trip_calls_there_once():
    """Beta is called at once."""
    assert draw(LOOP, read(LOOP, update("A-1", call("BETA", 60, 60)))) == (
        "Alpha 08:00 ? | Beta 08:11 | Gamma 08:21 | Alpha 08:31"
    )


def test_a_stop_that_is_called_at_twice_is_told_by_its_neighbours():
    """Alpha before Beta is the first call there, Alpha after Gamma the second."""
    told = read(LOOP, update("A-1", call("ALPHA", 60, 60), call("BETA", 120, 120)))
    assert draw(LOOP, told) == "Alpha 08:01 | Beta 08:12 | Gamma 08:22 | Alpha 08:32"
    told = read(LOOP, update("A-1", call("GAMMA", 60, 60), call("ALPHA", 120, 120)))
    assert draw(LOOP, told) == "Alpha 08:00 ? | Beta 08:10 ? | Gamma 08:21 | Alpha 08:32"


def test_a_stop_that_is_called_at_twice_is_told_by_its_time():
    """08:33 is nearer to 08:30 than to 08:00."""
    told = read(LOOP, update("A-1", call("ALPHA", "08:33")))
    assert draw(LOOP, told) == "Alpha 08:00 ? | Beta 08:10 ? | Gamma 08:20 ? | Alpha 08:33"


def test_a_stop_that_is_called_at_twice_is_not_guessed():
    """A delay alone does not say which of the two calls is meant."""
    told = read(LOOP, update("A-1", call("ALPHA", 60, 60)))
    assert (dict(told.rides), dict(told.stop_time_counts)) == ({}, {"call-ambiguous": 1})


def test_the_stop_wins_where_the_sequence_is_of_another_version():
    """Sequence 2 is Beta, yet Gamma is named: the numbering has moved, the stop has not."""
    told = read(LOOP, update("A-1", call("GAMMA", 60, 60, sequence=2)))
    assert draw(LOOP, told) == "Alpha 08:00 ? | Beta 08:10 ? | Gamma 08:21 | Alpha 08:31"


def test_an_unknown_stop_is_counted():
    """A stop of another feed version is not guessed from its sequence."""
    told = read(LOOP, update("A-1", call("OMEGA", 60, 60, sequence=2)))
    assert (dict(told.rides), dict(told.stop_time_counts)) == ({}, {"call-at-unknown-stop": 1})


def test_of_two_updates_for_one_stop_time_the_first_counts():
    """Beta is told twice."""
    told = read(LOOP, update("A-1", call("BETA", 60, 60), call("BETA", 120, 120)))
    assert draw(LOOP, told) == "Alpha 08:00 ? | Beta 08:11 | Gamma 08:21 | Alpha 08:31"
    assert dict(told.stop_time_counts) == {"call-applied": 1, "call-repeated": 1}


def test_an_assigned_stop_is_another_platform():
    """The call at platform 1 is moved to platform 2."""
    told = read(gapped(), update("A-1", call("P1", 0, 0, platform="P2")))
    assert draw(gapped(), told) == "End 08:00 ? | Hub 2 08:10 | End 08:30"


def test_a_platform_may_change_without_a_time():
    """An assigned stop needs no prediction beside it."""
    told = read(gapped(), update("A-1", call(sequence=10, platform="P2")))
    assert draw(gapped(), told) == "End 08:00 ? | Hub 2 08:10 ? | End 08:30 ?"


def test_the_other_platform_of_the_station_is_a_platform_change():
    """Sequence 10 is planned at platform 1; that platform 2 is named says where the vehicle stops."""
    told = read(gapped(), update("A-1", call("P2", 60, 60, sequence=10)))
    assert draw(gapped(), told) == "End 08:00 ? | Hub 2 08:11 | End 08:31"
    told = read(gapped(), update("A-1", call("P2", 60, 60)))
    assert draw(gapped(), told) == "End 08:00 ? | Hub 2 08:11 | End 08:31"


def test_the_station_itself_is_no_platform_change():
    """A feed may name the station where it means its platform."""
    told = read(gapped(), update("A-1", call("HUB", 60, 60, sequence=10)))
    assert draw(gapped(), told) == "End 08:00 ? | Hub 1 08:11 | End 08:31"


def test_an_unknown_new_stop_keeps_the_time():
    """The time holds at the planned platform, and that the new one is unknown is counted."""
    told = read(gapped(), update("A-1", call("P1", 60, 60, platform="P9")))
    assert draw(gapped(), told) == "End 08:00 ? | Hub 1 08:11 | End 08:31"
    assert dict(told.stop_time_counts) == {"call-applied-without-its-unknown-new-stop": 1}
