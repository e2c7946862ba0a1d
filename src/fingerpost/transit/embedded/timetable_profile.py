"""Derive a network profile from a timetable, and find feeds that are out of service on a day."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import chain
from zoneinfo import ZoneInfo

import numpy as np

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.engine.timetable.columns import mark_rows
from fingerpost.transit.engine.timetable.network_area import mark_area_stops
from fingerpost.transit.engine.timetable.service_days import find_covered_days, find_days
from fingerpost.transit.engine.timetable.timetable import WHEELCHAIR_UNKNOWN, Bool, Timetable
from fingerpost.transit.model.place import MARGIN_M, Bounds, Coordinate, box_of, choose_language
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.model.provenance import FeedVersion, OutOfService, ServiceState
from fingerpost.transit.rules.modes import to_mode

# Trips from the previous day may still be running up to this hour.
NIGHT_ENDS_H = 4
_ALWAYS = frozenset(Ability) - {Ability.REALTIME, Ability.STEP_FREE}


class TimetableProfile:
    def __init__(self, record: NetworkRecord, timetable: Timetable, notes: tuple[str, ...] = ()) -> None:
        self.record = record
        self._timetable = timetable
        self._notes = notes
        self._get_served_stops = lru_cache(maxsize=None)(self._find_served)
        self._get_area = lru_cache(maxsize=None)(self._find_area)

    @cached_property
    def zone(self) -> str:
        return self.record.zone or self._timetable.feeds[0].zone

    @cached_property
    def covered_days(self) -> tuple[date, date] | None:
        return find_covered_days(self._timetable)

    @cached_property
    def feeds(self) -> tuple[FeedVersion, ...]:
        names = [feed.name for feed in self._timetable.feeds]
        return tuple(
            FeedVersion(
                name=feed.name,
                version=feed.version,
                service=find_days(self._timetable, self._timetable.service_feed == row),
                label=feed.source or None if names.count(feed.name) > 1 else None,
            )
            for row, feed in enumerate(self._timetable.feeds)
        )

    @cached_property
    def has_wheelchair_data(self) -> bool:
        columns = self._timetable.stop_wheelchair, self._timetable.trip_wheelchair
        return any(bool((column != WHEELCHAIR_UNKNOWN).any()) for column in columns)

    def choose_language(self, language: str) -> str:
        return choose_language(language, self._languages)

    @cached_property
    def profile(self) -> NetworkProfile:
        data_abilities = {Ability.STEP_FREE: self.has_wheelchair_data, Ability.REALTIME: bool(self.record.realtime)}
        # Credit each feed by its license or, failing that, by its publisher or its agencies.
        credits_due = [feed.licences or (feed.publisher or ", ".join(feed.agencies),) for feed in self._timetable.feeds]
        first, last = self.covered_days or (None, None)
        routes = np.flatnonzero(np.bincount(self._timetable.trip_route, minlength=1))
        return NetworkProfile(
            name=self.record.name,
            source=self.record.source,
            bounds=self._bounds,
            zone=self.zone,
            abilities=_ALWAYS.union(ability for ability, is_known in data_abilities.items() if is_known),
            feed_names=frozenset(feed.name.upper() for feed in self._timetable.feeds),
            modes=frozenset(to_mode(int(kind)) for kind in self._timetable.route_type[routes]),
            is_demo=self.record.source == "demo",
            priority=self.record.priority,
            attribution=tuple(dict.fromkeys(filter(None, chain(self.record.attribution, *credits_due)))),
            notes=self._notes,
            first_day=first,
            last_day=last,
            feeds=self.feeds,
            answer_deadline_s=None,
            names_deadline_s=None,
        )

    @cached_property
    def _bounds(self) -> Bounds:
        """The record's bounds or, by default, a box with a margin around the stops in the network's area."""
        if self.record.bounds is not None:
            return Bounds(*self.record.bounds)
        return self._find_box(self._area_stops)

    @cached_property
    def _area_stops(self) -> Bool:
        table = self._timetable
        stop_times = table.stop_time_stop, table.stop_time_arrival_s, table.stop_time_departure_s
        return mark_area_stops(table.stop_lat, table.stop_lon, *stop_times, table.trip_first_stop_time)

    def _find_box(self, stops: Bool, margin_m: float = MARGIN_M) -> Bounds:
        lats, lons = self._timetable.stop_lat[stops].tolist(), self._timetable.stop_lon[stops].tolist()
        return box_of([Coordinate(lat, lon) for lat, lon in zip(lats, lons, strict=True)], margin_m)

    @cached_property
    def _languages(self) -> frozenset[str]:
        table = self._timetable
        languages = self.record.languages or [feed.language for feed in table.feeds if feed.language]
        return frozenset({*languages, *table.stop_names, *table.headsign_names, *table.route_names})

    def list_inactive_near(self, instant: int, ends: Sequence[Coordinate], margin_m: float) -> tuple[OutOfService, ...]:
        """Return the feeds that have no service at an instant but whose area overlaps the area of the trip."""
        inactive = self._list_inactive(instant)
        return tuple(feed for row, feed in inactive if self._get_area(row).overlaps(box_of(ends, margin_m)))

    def list_inactive_at(self, instant: int, stops: Sequence[int]) -> tuple[OutOfService, ...]:
        """Return the feeds that have no service at an instant but serve the stops on other days."""
        return tuple(feed for row, feed in self._list_inactive(instant) if self._get_served_stops(row)[[*stops]].any())

    def _list_inactive(self, instant: int) -> list[tuple[int, OutOfService]]:
        local = datetime.fromtimestamp(instant, ZoneInfo(self.zone))
        day = local.date()
        days = [day, day - timedelta(days=1)] if local.hour < NIGHT_ENDS_H else [day]
        return [
            (row, OutOfService(feed, day))
            for row, feed in enumerate(self.feeds)
            if not any(feed.service.state_on(service_day) is ServiceState.IN_SERVICE for service_day in days)
        ]

    def _find_served(self, feed: int) -> Bool:
        table = self._timetable
        is_feed_trip = table.route_feed[table.trip_route] == feed
        is_feed_stop_time = np.repeat(is_feed_trip, np.diff(table.trip_first_stop_time))
        return mark_rows(table.stop_count, table.stop_time_stop[is_feed_stop_time])

    def _find_area(self, feed: int) -> Bounds:
        served = self._get_served_stops(feed)
        usable = served & self._area_stops
        return self._find_box(usable if usable.any() else served, 0.0)
