"""Looks up the alerts of an overlay by what they touch, and puts them into a rider's language."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fingerpost.transit.engine.timetable.overlay import ALWAYS, Alert, Overlay, RideKey
from fingerpost.transit.engine.timetable.timetable import ENTRANCE, NODE, Timetable
from fingerpost.transit.model.itinerary import ServiceAlert
from fingerpost.transit.rules.language import choose


class Span(NamedTuple):
    """From when to when a rider is somewhere, Unix seconds, both ends included."""

    begin: int
    end: int


class Ridden(NamedTuple):
    """What a ride is to alerts: rows, -1 where unknown; ``key`` is that of the ride that it replaces, else its own."""

    route: int
    trip: int
    key: RideKey


# How near an alert is to a ride, the nearest first.
_RIDE, _TRIP, _ROUTE_STOP, _ROUTE, _STOP, _FEED = range(6)


class OverlayAlerts:
    def __init__(self, timetable: Timetable, overlay: Overlay) -> None:
        self._timetable = timetable
        self._alerts = overlay.alerts
        self._by_selector: dict[object, list[int]] = defaultdict(list)
        self._in_words: dict[tuple[int, str, tuple[int, int]], ServiceAlert] = {}
        for row, alert in enumerate(overlay.alerts):
            for selector in self._list_selectors(alert):
                self._by_selector[selector].append(row)

    def list_of_ride(
        self, ride: Ridden, span: Span, stops: Sequence[tuple[int, Span]], language: str
    ) -> tuple[ServiceAlert, ...]:
        """Return the alerts that touch a ride, or a rider's stops of it, while the rider is there; the nearest first.

        ``span`` is from boarding to alighting; ``stops`` are the rows where the rider boards or alights, each with
        when.
        """
        if not self._alerts:
            return ()
        near: dict[int, tuple[int, tuple[int, int]]] = {}

        def meet(distance: int, selector: object, span: Span) -> None:
            for row in self._by_selector.get(selector, ()):
                period = self._alerts[row].find_period(*span)
                if period is not None and distance < near.get(row, (_FEED + 1, ALWAYS))[0]:
                    near[row] = (distance, period)

        route, trip, key = ride
        meet(_RIDE, ("ride", key), span)
        meet(_TRIP, ("trip", trip), span)
        for stop, there in stops:
            meet(_RIDE, ("ride", key, stop), there)
            meet(_TRIP, ("trip", trip, stop), there)
            meet(_ROUTE_STOP, ("route", route, stop), there)
            for place in self._list_places(stop):
                meet(_STOP, ("stop", place), there)
        if route >= 0:
            meet(_ROUTE, ("route", route), span)
            meet(_FEED, ("feed", int(self._timetable.route_feed[route])), span)
            meet(_FEED, ("type", int(self._timetable.route_type[route])), span)
        order = sorted(near, key=lambda row: (near[row][0], row))
        return tuple(self._put_into_words(row, language, near[row][1]) for row in order)

    def list_of_stops(self, stops: Iterable[int], span: Span, language: str) -> tuple[ServiceAlert, ...]:
        """Return the alerts of the stops themselves that are in force during any of a span of time."""
        rows = {
            row
            for stop in stops
            for place in self._list_places(stop)
            for row in self._by_selector.get(("stop", place), ())
        }
        met = ((row, self._alerts[row].find_period(*span)) for row in sorted(rows))
        return tuple(self._put_into_words(row, language, period) for row, period in met if period is not None)

    def _list_selectors(self, alert: Alert) -> Iterable[object]:
        yield from (("feed", row) for row in alert.feeds)
        yield from (("type", kind) for kind in alert.route_types)
        yield from (("route", row) for row in alert.routes)
        yield from (("trip", row) for row in alert.trips)
        yield from (("ride", key) for key in alert.rides)
        yield from (("route", *pair) for pair in alert.route_stops)
        yield from (("trip", *pair) for pair in alert.trip_stops)
        yield from (("ride", *pair) for pair in alert.ride_stops)
        yield from {("stop", self._find_place(row)) for row in alert.stops}

    def _find_place(self, stop: int) -> int:
        """Return the station of an entrance or a passage, because no ride calls at those; any other stop itself."""
        is_inside = int(self._timetable.stop_kind[stop]) in (ENTRANCE, NODE)
        parent = int(self._timetable.stop_parent[stop])
        return parent if is_inside and parent >= 0 else stop

    def _list_places(self, stop: int) -> tuple[int, ...]:
        parent = int(self._timetable.stop_parent[stop]) if stop >= 0 else -1
        return (stop,) if parent < 0 else (stop, parent)

    def _put_into_words(self, row: int, language: str, period: tuple[int, int]) -> ServiceAlert:
        key = (row, language, period)
        said = self._in_words.get(key)
        if said is None:
            said = self._in_words[key] = _in_language(self._alerts[row], language, period)
        return said


def _in_language(alert: Alert, language: str, period: tuple[int, int]) -> ServiceAlert:
    since, until = period
    return ServiceAlert(
        id=alert.id,
        header=_choose_words(alert.headers, language) or "",
        text=_choose_words(alert.descriptions, language) or "",
        effect=alert.effect,
        since=since if since > ALWAYS[0] else None,
        until=until if until < ALWAYS[1] else None,
        url=_choose_words(alert.urls, language),
    )


def _choose_words(words: Mapping[str, str], language: str) -> str | None:
    """Return what is said in the language of rule A7, in any other where there is none of its languages."""
    return words.get(choose(language, words)) or next(iter(words.values()), None)
