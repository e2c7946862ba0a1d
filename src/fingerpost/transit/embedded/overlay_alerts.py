"""Find the realtime alerts for a ride or stop, in the rider's language."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from fingerpost.transit.engine.timetable.overlay import ALWAYS, Overlay, RideSelector, Selector
from fingerpost.transit.engine.timetable.timetable import ENTRANCE, NODE, Timetable
from fingerpost.transit.model.itinerary import ServiceAlert
from fingerpost.transit.model.place import choose_language


class Span(NamedTuple):
    """A time interval that includes both ends, in Unix seconds."""

    begin: int
    end: int


# Ranks of alerts, most specific first. Alerts for an agency or mode are stored as alerts for its routes.
_RIDE, _TRIP, _ROUTE_STOP, _STOP, _ROUTE = range(5)


class OverlayAlerts:
    def __init__(self, timetable: Timetable, overlay: Overlay) -> None:
        self._timetable = timetable
        self._alerts = overlay.alerts
        self._by_selector: dict[Selector, list[int]] = defaultdict(list)
        self._localize = lru_cache(maxsize=None)(self._new_service_alert)
        for row, alert in enumerate(overlay.alerts):
            for selector in {*map(self._move_to_station, alert.selectors)}:
                self._by_selector[selector].append(row)

    def list_ride_alerts(
        self, ride: RideSelector, span: Span, stops: Sequence[tuple[int, Span]], language: str
    ) -> tuple[ServiceAlert, ...]:
        """Return the alerts for a ride and for its boarding and alighting stops, most specific first.

        ``span`` lasts from boarding to alighting; ``stops`` has each stop's row and time span.
        """
        matches: dict[int, tuple[int, tuple[int, int]]] = {}

        def add_alerts(rank: int, selector: Selector, span: Span) -> None:
            for row in self._by_selector.get(selector, ()):
                period = self._alerts[row].find_period(*span)
                if period is not None and rank < matches.get(row, (_ROUTE + 1, ALWAYS))[0]:
                    matches[row] = (rank, period)

        route, trip, key = ride
        add_alerts(_RIDE, ("ride", key), span)
        add_alerts(_TRIP, ("trip", trip), span)
        for stop, stop_span in stops:
            add_alerts(_RIDE, ("ride", key, stop), stop_span)
            add_alerts(_TRIP, ("trip", trip, stop), stop_span)
            add_alerts(_ROUTE_STOP, ("route", route, stop), stop_span)
            for place in self._list_places(stop):
                add_alerts(_STOP, ("stop", place), stop_span)
        add_alerts(_ROUTE, ("route", route), span)
        order = sorted(matches, key=lambda row: (matches[row][0], row))
        return tuple(self._localize(row, language, matches[row][1]) for row in order)

    def list_stop_alerts(self, stops: Iterable[int], span: Span, language: str) -> tuple[ServiceAlert, ...]:
        rows = {
            row
            for stop in stops
            for place in self._list_places(stop)
            for row in self._by_selector.get(("stop", place), ())
        }
        periods = ((row, self._alerts[row].find_period(*span)) for row in sorted(rows))
        return tuple(self._localize(row, language, period) for row, period in periods if period is not None)

    def _move_to_station(self, selector: Selector) -> Selector:
        """Replace an entrance or pathway node by its station, because trips do not serve these."""
        kind, row, *_ = selector
        if kind != "stop" or int(self._timetable.stop_kind[row]) not in (ENTRANCE, NODE):
            return selector
        parent = int(self._timetable.stop_parent[row])
        return ("stop", parent) if parent >= 0 else selector

    def _list_places(self, stop: int) -> tuple[int, ...]:
        parent = int(self._timetable.stop_parent[stop]) if stop >= 0 else -1
        return (stop,) if parent < 0 else (stop, parent)

    def _new_service_alert(self, row: int, language: str, period: tuple[int, int]) -> ServiceAlert:
        alert, (since, until) = self._alerts[row], period
        return ServiceAlert(
            id=alert.id,
            header=_choose_text(alert.headers, language) or "",
            text=_choose_text(alert.descriptions, language) or "",
            effect=alert.effect,
            since=since if since > ALWAYS[0] else None,
            until=until if until < ALWAYS[1] else None,
            url=_choose_text(alert.urls, language),
        )


def _choose_text(texts: Mapping[str, str], language: str) -> str | None:
    """Return the text in the language that rule A7 selects or, if there is none, in any language."""
    return texts.get(choose_language(language, texts)) or next(iter(texts.values()), None)
