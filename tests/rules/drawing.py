"""Legs, itineraries and stops drawn by hand: minutes count from ``T0``, 08:00 in Helsinki on 22 February 2022."""

from datetime import date

from hypothesis import strategies as st

from fingerpost.transit.model.itinerary import Access, Departure, Itinerary, Leg, Mode, StopPoint
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.rules.place_index import NamedStop

T0 = 1_645_509_600
DAY = date(2022, 2, 22)
# One degree of latitude, in metres, on the sphere that fingerpost measures on.
DEGREE_M = 111_195.08


def at(minute: float) -> int:
    return T0 + round(minute * 60)


def point(name: str, wheelchair: Access = Access.UNKNOWN) -> StopPoint:
    """Draw a stop of id ``T:NAME``; a name in lower case is a place without id."""
    known = name.isupper()
    return StopPoint(
        name=name, coordinate=Coordinate(60.17, 24.94), id=f"T:{name}" if known else None, wheelchair=wheelchair
    )


def ride(line: str | None, start: str, end: str, departs: float, arrives: float, delay_s: int | None = None, **more):
    """Draw a ride, by bus unless ``mode`` is given, late at both ends unless ``arrival_delay_s`` is given."""
    more.setdefault("mode", Mode.BUS)
    more.setdefault("arrival_delay_s", delay_s)
    return Leg(
        start=point(start),
        end=point(end),
        departure_scheduled=at(departs),
        arrival_scheduled=at(arrives),
        departure_delay_s=delay_s,
        line=line,
        trip_id="trip",
        service_day=DAY,
        **more,
    )


def walk(start: str, end: str, departs: float, arrives: float, metres: float = 0.0) -> Leg:
    return Leg(
        mode=Mode.WALK,
        start=point(start),
        end=point(end),
        departure_scheduled=at(departs),
        arrival_scheduled=at(arrives),
        distance_m=metres,
    )


def trip(*legs: Leg) -> Itinerary:
    return Itinerary(legs)


def departure(delay_s: int | None = None, *, cancelled: bool = False, updated: int | None = None) -> Departure:
    return Departure(
        line="7",
        mode=Mode.TRAM,
        destination="B",
        scheduled=at(5),
        stop_id="T:A",
        trip_id="trip",
        service_day=DAY,
        departure_delay_s=delay_s,
        cancelled=cancelled,
        last_realtime_update=updated,
    )


def stop_at(stop_id: str, name: str, north_m: float = 0.0, **more) -> NamedStop:
    return NamedStop(id=stop_id, name=name, lat=60 + north_m / DEGREE_M, lon=25.0, **more)


_MINUTES = st.integers(0, 40)
_DELAYS = st.sampled_from([None, 0, 60, 61, 300, 301, -61])


@st.composite
def itineraries(draw) -> Itinerary:
    """One or two rides with a walk before them, on few lines and stops, so that equals are common."""
    minute = draw(_MINUTES)
    legs = [walk("home", "A", minute, minute + 3, metres=draw(st.sampled_from([0.0, 200.0, 900.0])))]
    minute += 3
    for start, end in (("A", "B"), ("B", "C"))[: draw(st.integers(1, 2))]:
        line, arrives = draw(st.sampled_from("17")), minute + draw(st.integers(1, 20))
        legs.append(ride(line, start, end, minute, arrives, draw(_DELAYS), cancelled=draw(st.booleans())))
        minute = arrives
    return trip(*legs)
