"""Read GTFS-Realtime service alerts: text, active periods, and affected entities."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from itertools import product
from types import MappingProxyType
from typing import Any

from google.transit.gtfs_realtime_pb2 import Alert as AlertMessage
from google.transit.gtfs_realtime_pb2 import EntitySelector, TranslatedString, TripDescriptor

from fingerpost.transit.engine.gtfs.realtime.messages import EntityOutcome, to_text
from fingerpost.transit.engine.gtfs.realtime.trip_matching import TripMatch, TripMatcher
from fingerpost.transit.engine.gtfs.realtime.trip_updates import TripUpdates
from fingerpost.transit.engine.timetable.overlay import ALWAYS, Alert, Selector
from fingerpost.transit.engine.timetable.stop_ids import SAME_STOP_M
from fingerpost.transit.engine.timetable.walks import straight_line_m

DEFAULT_LANGUAGE = "default"
# Longer URLs are dropped.
MAX_URL_CHARS = 300

# Some publishers repeat the text as HTML with a language tag such as en-html.
_HTML_SUBTAG = "html"
_BREAK = re.compile(r"<(?:br|/p|/li|/div|/tr|/h[1-6])\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|b|br|div|em|font|h[1-6]|hr|i|img|li|ol|p|small|span|strong|table|tbody|td|th|tr|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)


def _read_texts(text: TranslatedString) -> Mapping[str, str]:
    """Return the first text for each primary language subtag, preferring plain text to HTML."""
    translations = [
        (to_text(translation.language).replace("_", "-").strip().lower().split("-"), to_text(translation.text))
        for translation in text.translation
    ]
    texts: dict[str, str] = {}
    for (language, *_), raw_text in sorted(translations, key=lambda translation: _HTML_SUBTAG in translation[0][1:]):
        without_markup = _strip_markup(raw_text)
        if without_markup:
            texts.setdefault(language.strip() or DEFAULT_LANGUAGE, without_markup)
    return MappingProxyType(texts)


def _read_urls(url: TranslatedString) -> Mapping[str, str]:
    urls = _read_texts(url).items()
    starts = ("http://", "https://")
    return MappingProxyType({lang: url for lang, url in urls if url.startswith(starts) and len(url) <= MAX_URL_CHARS})


def _strip_markup(text: str) -> str:
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", text))
    return unescape(text).strip() if "&" in text else text.strip()


_NO_END = ALWAYS[1]


def read_alert(
    entity_id: str, message: AlertMessage, matcher: TripMatcher, trips: TripUpdates, max_selectors: int
) -> Alert | EntityOutcome:
    """Return an alert with its known informed entities, or the outcome if none is known or there are too many.

    A selector affects the entities that match all of its fields. A selector affects nothing if one of its ids is
    unknown, or means different entities in different FEEDs.
    """
    affected = _AffectedEntities(matcher, trips)
    for selector in message.informed_entity:
        affected.add(selector)
        if len(affected.selectors) > max_selectors:
            return EntityOutcome.ALERT_BEYOND_LIMIT
    if not affected.selectors:
        return EntityOutcome.ID_SHARED if affected.has_shared_id else EntityOutcome.ALERT_WITHOUT_SELECTOR
    periods = tuple(
        (min(period.start, _NO_END), min(period.end, _NO_END) or _NO_END)
        for period in (message.impact_period or message.active_period)
    )
    return Alert(
        id=to_text(entity_id),
        effect=AlertMessage.Effect.Name(message.effect),
        periods=periods,
        headers=_read_texts(message.header_text),
        descriptions=_read_texts(message.description_text),
        urls=_read_urls(message.url),
        selectors=frozenset(affected.selectors),
    )


class _AffectedEntities:
    """The informed entities of an alert."""

    def __init__(self, matcher: TripMatcher, trips: TripUpdates) -> None:
        self.matcher, self.trips, self.index = matcher, trips, matcher.index
        self.has_shared_id = False
        self.selectors: set[Selector] = set()

    def add(self, selector: EntitySelector) -> None:
        stops = self._find_stops(selector.stop_id) if selector.stop_id else None
        if selector.HasField("trip") and selector.trip.ListFields():
            self._add_trip(selector.trip, stops)
            return
        routes = self._find_routes(selector)
        feed_name_sets = [set(group) for group in (stops, routes) if group is not None]
        names = set.intersection(*feed_name_sets) if feed_name_sets else set()
        if len(names) > 1 and self._is_shared(selector, names, routes):
            self.has_shared_id = True
            self.matcher.report_shared_id(selector.route_id or selector.stop_id or selector.agency_id)
        elif names:
            self._add_selected(
                selector,
                None if stops is None else frozenset().union(*(stops[name] for name in names)),
                None if routes is None else set().union(*(routes[name] for name in names)),
            )

    def _is_shared(self, selector: EntitySelector, names: Iterable[str], routes: Mapping[str, set[int]] | None) -> bool:
        """Whether several FEEDs use the ids of a selector for different entities."""
        feeds = self.index.timetable.feeds
        if selector.route_id and routes is not None:
            # An operator may publish one feed per district, each with all lines.
            if len({self._describe_route(route) for name in names for route in routes[name]}) > 1:
                return True
        elif selector.agency_id and len({feed.agencies for feed in feeds if feed.name in names}) > 1:
            return True
        return bool(selector.stop_id) and not self._is_same_place(
            [self.index.get_stops_by_id(name)[selector.stop_id] for name in names]
        )

    def _describe_route(self, route: int) -> tuple[str, str, tuple[str, ...]]:
        table = self.index.timetable
        agencies = table.feeds[self.index.route_feed[route]].agencies
        return table.route_short_name[route], table.route_long_name[route], agencies

    def _is_same_place(self, stops: Sequence[int]) -> bool:
        # Stops in several FEEDs are the same place if they have the same name and are close (rule A8).
        table = self.index.timetable
        if len({table.stop_name[stop].casefold() for stop in stops}) > 1:
            return False
        lats, lons = table.stop_lat[stops], table.stop_lon[stops]
        return bool((straight_line_m(float(lats[0]), float(lons[0]), lats, lons) <= SAME_STOP_M).all())

    def _add_selected(self, selector: EntitySelector, stops: frozenset[int] | None, routes: set[int] | None) -> None:
        if selector.HasField("direction_id") and routes is not None:
            directions = set(product(routes, (-1, selector.direction_id))) & self.index.route_directions
            self._add_kind("direction", directions, stops)
        elif routes is not None:
            self._add_kind("route", routes, stops)
        elif stops is not None:
            self._add_kind("stop", stops)

    def _add_trip(self, trip: TripDescriptor, stops: Mapping[str, frozenset[int]] | None) -> None:
        added_rides = self.trips.find_added_rides(trip, self.matcher)
        if isinstance(added_rides, EntityOutcome):
            self.has_shared_id = True
        else:
            self._add_kind("ride", added_rides, None if stops is None else frozenset().union(*stops.values()))
        if trip.trip_id and not trip.start_date and not trip.start_time:
            self._add_trip_on_all_days(trip, stops)
            return
        match = self.matcher.match(trip)
        if not isinstance(match, TripMatch):
            self.has_shared_id |= match == EntityOutcome.ID_SHARED
            return
        name = self.index.feed_names[self.index.trip_feed[match.trip]]
        stop_rows = None if stops is None else stops.get(name, frozenset())
        self._add_kind("ride", [(match.trip_departure, match.day)], stop_rows)

    def _add_trip_on_all_days(self, trip: TripDescriptor, stops: Mapping[str, frozenset[int]] | None) -> None:
        rows = self.matcher.find_trips(trip)
        if isinstance(rows, EntityOutcome):
            return
        trips = self.index.group_by_feed_name(rows, self.index.trip_feed)
        names = trips.keys() if stops is None else trips.keys() & stops.keys()
        if len(names) > 1:
            self.has_shared_id = True
            self.matcher.report_shared_id(trip.trip_id)
            return
        for name in names:
            self._add_kind("trip", trips[name], None if stops is None else stops[name])

    def _add_kind(self, kind: str, keys: Iterable[Any], stops: Iterable[int] | None = None) -> None:
        self.selectors.update(product([kind], keys, *([] if stops is None else [stops])))

    def _find_stops(self, stop_id: str) -> Mapping[str, frozenset[int]]:
        rows = ((name, self.index.get_stops_by_id(name).get(stop_id)) for name in self.matcher.scope.feed_names)
        return {name: self.index.list_stop_subtree(row) for name, row in rows if row is not None}

    def _find_routes(self, selector: EntitySelector) -> Mapping[str, set[int]] | None:
        """Return the routes, by FEED, that match a selector's route, type and agency.

        Return None if the selector has none of these fields.
        """
        table, scope = self.index.timetable, self.matcher.scope
        if not (selector.route_id or selector.agency_id or selector.HasField("route_type")):
            return None
        candidates = [scope.routes.get(selector.route_id, ())] if selector.route_id else scope.routes.values()
        routes = {row for rows in candidates for row in rows}
        if selector.HasField("route_type"):
            routes = {row for row in routes if int(table.route_type[row]) == selector.route_type}
        if selector.agency_id:
            routes = {row for row in routes if self._find_agency_id(row) == selector.agency_id}
        return self.index.group_by_feed_name(routes, self.index.route_feed)

    def _find_agency_id(self, route: int) -> str | None:
        table = self.index.timetable
        row = int(table.route_agency[route])
        return table.feeds[int(table.route_feed[route])].agency_ids[row] if row >= 0 else None
