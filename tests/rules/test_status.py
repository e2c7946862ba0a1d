"""Status, schedule type and freshness (rules B2, B3, B4)."""

import pytest

from fingerpost.transit.rules.realtime_status import (
    data_freshness,
    is_stale,
    realtime_age_s,
    schedule_type_of,
    schedule_type_of_all,
    status_of,
    status_of_departure,
    uses_realtime,
)
from tests.rules.drawing import T0, departure, ride, trip, walk

DELAYS = [
    (None, "scheduled_only"),
    (0, "on_time"),
    (60, "on_time"),
    (61, "delayed"),
    (-60, "on_time"),
    (-61, "delayed"),
]


@pytest.mark.parametrize(("delay_s", "status"), DELAYS)
def test_status_of_a_ride(delay_s, status):
    """B2, P53, P55, P56, P57: 60 s either way is on time, 61 is delayed, no realtime is scheduled_only."""
    assert status_of(ride("7", "A", "B", 0, 9, delay_s)) == status


@pytest.mark.parametrize(("delay_s", "status"), DELAYS)
def test_status_of_a_departure(delay_s, status):
    """B2, D20, D22, D23, D36, D40, D41: boards follow the same rule, where 60 s is on time and -61 delayed."""
    assert status_of_departure(departure(delay_s)) == status


@pytest.mark.parametrize("delay_s", [None, 0, 900])
def test_cancelled_wins(delay_s):
    """B2, P54, D23, D39: whatever its delay, a cancelled trip is cancelled."""
    cancelled_ride = ride("7", "A", "B", 0, 9, delay_s, cancelled=True)

    actual = {status_of(cancelled_ride), status_of_departure(departure(delay_s, cancelled=True))}

    assert actual == {"cancelled"}


def test_status_looks_at_the_boarding_stop():
    """B2: a ride that leaves on time and arrives ten minutes late is on time."""
    assert status_of(ride("7", "A", "B", 0, 9, 0, arrival_delay_s=600)) == "on_time"


def test_a_walk_has_no_status():
    """B2: status belongs to rides."""
    assert status_of(walk("A", "B", 0, 5)) is None


LIVE, PLANNED = ride("7", "A", "B", 0, 9, 0), ride("7", "B", "C", 12, 20)
CANCELLED = ride("7", "B", "C", 12, 20, cancelled=True)
ON_FOOT = walk("C", "home", 20, 25)


@pytest.mark.parametrize(
    ("legs", "word"),
    [
        ((LIVE, ON_FOOT), "realtime"),
        ((LIVE, CANCELLED), "realtime"),
        ((LIVE, PLANNED), "mixed"),
        ((PLANNED, ON_FOOT), "scheduled"),
        ((ON_FOOT,), "scheduled"),
    ],
)
def test_schedule_type(legs, word):
    """B3, P49, P58, P69: all, some or none of an itinerary's rides; a cancellation is realtime, a walk is nothing."""
    assert schedule_type_of(trip(*legs)) == word


@pytest.mark.parametrize(
    ("trips", "word"),
    [
        ((trip(LIVE), trip(LIVE)), "realtime"),
        ((trip(LIVE), trip(PLANNED)), "mixed"),
        ((trip(LIVE), trip(ON_FOOT)), "realtime"),
        ((trip(PLANNED),), "scheduled"),
        ((), "scheduled"),
    ],
)
def test_realtime_used(trips, word):
    """B3, P28, P49, P58: over the rides of all returned itineraries together."""
    assert schedule_type_of_all(trips) == word


@pytest.mark.parametrize(
    ("rows", "used"),
    [
        ((departure(None), departure(0)), True),
        ((departure(None, cancelled=True),), True),
        ((departure(None),), False),
        ((), False),
    ],
)
def test_realtime_used_by_a_board(rows, used):
    """C1, D9, D24: true if any row has a realtime time or a cancellation."""
    assert uses_realtime(rows) is used


@pytest.mark.parametrize(("updated", "fresh"), [(T0 - 40, T0), (T0 + 2, T0 + 2), (None, T0)])
def test_data_freshness(updated, fresh):
    """B4, P29, P59, D10, D27: the latest of all updates and of the request, for legs and for rows of a board."""
    leg = ride("7", "A", "B", 0, 9, 0, last_realtime_update=updated)

    actual = {data_freshness([leg, ON_FOOT], T0), data_freshness([departure(0, updated=updated)], T0)}

    assert actual == {fresh}


def test_realtime_age_is_that_of_the_oldest_update():
    """B4: an answer is no fresher than its stalest ride."""
    rows = [departure(0, updated=T0 - 40), departure(0, updated=T0 - 95), departure()]

    assert realtime_age_s(rows, T0) == 95


@pytest.mark.parametrize(("updated", "age_s"), [(None, None), (T0 + 3, 0)])
def test_realtime_age_at_its_edges(updated, age_s):
    """B4: no realtime has no age, and a source whose clock is ahead is not from the future."""
    assert realtime_age_s([departure(0, updated=updated)], T0) == age_s


@pytest.mark.parametrize(("age_s", "stale"), [(None, False), (90, False), (91, True)])
def test_stale(age_s, stale):
    """B4: 90 s is fresh, 91 is stale."""
    assert is_stale(age_s) is stale
