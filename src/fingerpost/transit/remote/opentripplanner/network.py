"""A network on one OpenTripPlanner server, and its learned profile."""

import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import SourceChanged, SourceFailed
from fingerpost.net.request import Fetch
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.line_colors import parse_line_colors
from fingerpost.transit.model.place import Bounds, box_of
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import FeedVersion
from fingerpost.transit.port import DepartureBoard, DepartureQuery
from fingerpost.transit.remote.kit.journeys import JourneyPage, JourneyRequest
from fingerpost.transit.remote.kit.network import EARLIEST_S, LATEST_S, ServerNetwork, ServerSource, find_common_zone
from fingerpost.transit.remote.kit.places import StopIdCodec
from fingerpost.transit.remote.opentripplanner import journeys, shapes
from fingerpost.transit.remote.opentripplanner.digitransit import ATTRIBUTION, REGIONS, find_region, get_deadline_s
from fingerpost.transit.remote.opentripplanner.places import DigitransitStopLookup, OtpStopIds, OtpStopLookup
from fingerpost.transit.remote.opentripplanner.server import Server
from fingerpost.transit.remote.opentripplanner.shapes import read_mode

_log = logging.getLogger(__name__)

ABILITIES = frozenset(Ability)
# Positions within this many degrees of 0, 0 count as unset.
_UNSET_WITHIN = 0.001
_DIGITRANSIT_LANGUAGES = ("fi", "sv", "en")


async def learn_profile(fetch: Fetch, record: NetworkRecord) -> LearnedProfile:
    """Request a server's profile; Digitransit's bounds and languages are fixed."""
    region = find_region(record.url)
    server = Server(fetch, record)
    try:
        network = (await server.fetch(shapes.Network, fresh_s=0.0)).data
    except (SourceFailed, SourceChanged) as error:
        message = f"{record.url} does not answer as OpenTripPlanner 2.7 or later does: {error.message}"
        raise error.with_message(message, hint="Give the address of an OpenTripPlanner server, 2.7 to 2.9") from error
    bounds = REGIONS[region] if region is not None else await _find_bounds(server)
    zone = find_common_zone(agency.timezone for feed in network.feeds for agency in feed.agencies)
    languages = (agency.lang.lower() for feed in network.feeds for agency in feed.agencies if agency.lang)
    first, last = _find_days(network.begin, network.end, zone)
    return LearnedProfile(
        bounds=bounds,
        zone=zone,
        languages=_DIGITRANSIT_LANGUAGES if region is not None else tuple(dict.fromkeys(languages)),
        feeds=tuple(FeedVersion(name=feed.feed_id) for feed in network.feeds),
        modes=frozenset(read_mode(None, route.type) for route in network.routes if route.type is not None),
        attribution=ATTRIBUTION if region is not None else _list_attribution(network.feeds),
        first_day=first,
        last_day=last,
        learned_at=clock.now(),
    )


async def _find_bounds(server: Server) -> Bounds:
    """Return the bounds of the stops, ignoring stops at 0, 0, whose positions are unknown."""
    stops = (await server.fetch(shapes.AllStops, fresh_s=0.0)).data.stops
    positions = [stop.coordinate for stop in stops if max(abs(stop.lat), abs(stop.lon)) >= _UNSET_WITHIN]
    if len(positions) < len(stops):
        left_out = len(stops) - len(positions)
        _log.warning("%d of %d stops are at 0, 0; the bounds ignore them", left_out, len(stops))
    if not positions:
        raise SourceChanged("The server has no stops", hint="Build its graph with a GTFS feed")
    return box_of(positions)


def _find_days(begin: int | None, end: int | None, zone: str | None) -> tuple[date | None, date | None]:
    """Return the first and last service days, or None for both if the range is invalid; ``end`` is exclusive."""
    if begin is None or end is None or end <= begin:
        return None, None
    tz = ZoneInfo(zone) if zone else UTC
    return datetime.fromtimestamp(begin, tz).date(), datetime.fromtimestamp(end - 1, tz).date()


def _list_attribution(feeds: Iterable[shapes.FeedData]) -> tuple[str, ...]:
    """Return the publisher of each feed or, failing that, its agencies or its id."""
    publishers = (
        feed.publisher
        or ", ".join(dict.fromkeys(agency.name for agency in feed.agencies if agency.name))
        or feed.feed_id
        for feed in feeds
    )
    return tuple(dict.fromkeys(publishers))


class OpenTripPlannerNetwork(ServerNetwork):
    def __init__(self, record: NetworkRecord, learned: LearnedProfile, fetch: Fetch) -> None:
        region = find_region(record.url)
        profile = new_remote_profile(record, learned, ABILITIES)
        profile = replace(profile, answer_deadline_s=get_deadline_s(record.url))
        self._server = Server(fetch, record)
        ids = OtpStopIds([feed.name for feed in learned.feeds] or [record.name])
        stops = OtpStopLookup(self._server, ids)
        if region is not None:
            stops = DigitransitStopLookup(self._server, ids, fetch, record, profile.bounds)
            self.credit = "© Digitransit {year}, retrieved {retrieved}"
        super().__init__(profile, record, learned, ids=ids, stops=stops)

    def _list_pages(self, request: JourneyRequest) -> AsyncIterator[JourneyPage]:
        return journeys.list_pages(self._server, self._ids, self._profile, request)

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        before_s, after_s = (EARLIEST_S, LATEST_S) if query.by_schedule else (MARGIN_S, MARGIN_S)
        variables = {
            "ids": self._ids.decode_all(query.stop_ids),
            "from": query.instant - before_s,
            "seconds": query.window_s + before_s + after_s,
            "count": MAX_ROWS,
        }
        answer = await self._server.fetch(shapes.Board, variables, language=self._choose_language(query.language))
        stops = answer.data.stops
        times: Sequence[object] = [time for stop in stops for time in stop.stoptimes_without_patterns]
        answer.require("departure", "stops", "stoptimesWithoutPatterns", found=times)
        zone = ZoneInfo(self._profile.zone)
        rows = [row for stop in stops for row in list_rows(stop, self._ids, zone)]
        all_alerts = (alert for stop in stops for alert in stop.alerts)
        alerts = journeys.list_active_alerts(all_alerts, query.instant, query.instant + query.window_s)
        return self._new_board(query, rows, [answer], alerts=alerts)


# More departures than any stop has in a day.
MAX_ROWS = 3000
# Widens the time window, because the server treats the start and the end of a window differently.
MARGIN_S = 120
_NO_BOARDING = "NONE"
_HALF_DAY_S = 12 * 3600


def list_rows(stop: shapes.BoardStop, ids: StopIdCodec, zone: ZoneInfo) -> Iterator[Departure]:
    public_id = ids.encode(stop.gtfs_id)
    for time in stop.stoptimes_without_patterns:
        last = time.trip.last_position
        # If a stop time is cancelled, its pickup type does not show that the trip ends at this stop.
        is_last_call = last is not None and last == time.stop_position_in_pattern
        if time.pickup_type != _NO_BOARDING and not is_last_call:
            row = _new_row(time, ids, public_id, stop.platform_code or None, zone)
            alerts = journeys.list_active_alerts((*time.trip.alerts, *stop.alerts), row.expected, row.expected)
            yield replace(row, alerts=alerts) if alerts else row


def _new_row(time: shapes.Stoptime, ids: StopIdCodec, stop_id: str, platform: str | None, zone: ZoneInfo) -> Departure:
    trip = time.trip
    cancelled = time.realtime_state == journeys.CANCELLED or (bool(time.realtime) and time.pickup_type is None)
    return Departure(
        line=trip.route.name,
        mode=read_mode(None, trip.route.type),
        destination=time.headsign or trip.destination or trip.route.name,
        scheduled=time.service_day + time.scheduled_departure,
        stop_id=stop_id,
        trip_id=ids.encode_trip(trip.gtfs_id),
        # A service day begins at noon minus twelve hours.
        service_day=datetime.fromtimestamp(time.service_day + _HALF_DAY_S, zone).date(),
        departure_delay_s=time.departure_delay if time.realtime and not cancelled else None,
        cancelled=cancelled,
        platform=platform,
        by_arrangement=time.pickup_type in journeys.BY_ARRANGEMENT,
        long_name=trip.route.long_name or None,
        colors=parse_line_colors(trip.route.color, trip.route.text_color),
    )


class OpenTripPlannerSource(ServerSource):
    learn_profile = staticmethod(learn_profile)
    open_network = staticmethod(OpenTripPlannerNetwork)
