"""A network on one MOTIS server, and its learned profile."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import OutsideCalendar, ParameterError, SourceChanged
from fingerpost.net.request import Fetch, split_address
from fingerpost.runtime.concurrency import gather_all
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.line_colors import parse_line_colors
from fingerpost.transit.model.place import Bounds, box_of
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import FeedVersion
from fingerpost.transit.port import DepartureBoard, DepartureQuery
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.journeys import JourneyPage, JourneyRequest
from fingerpost.transit.remote.kit.network import EARLIEST_S, LATEST_S, ServerNetwork, ServerSource, find_common_zone
from fingerpost.transit.remote.kit.places import StopIdCodec
from fingerpost.transit.remote.motis import journeys, places, shapes
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer, ResponseTooLarge, UnknownToServer
from fingerpost.transit.remote.motis.transitous import ATTRIBUTION, WORLD, is_transitous
from fingerpost.transit.rules.times import format_utc

ABILITIES = frozenset(Ability)
_OSM = "© OpenStreetMap contributors, ODbL"


async def learn_profile(fetch: Fetch, record: NetworkRecord) -> LearnedProfile:
    """Request the profile; raise ParameterError if bounds or zone is missing and there are too many stops."""
    server = MotisServer(fetch, record)
    initial = (await server.fetch(MotisEndpoint.INITIAL, shapes.Initial, {}, fresh_s=0.0)).data
    has_streets = initial.has_street_routing is not False
    if is_transitous(record.url):
        return _learn_transitous(record)
    stops = await _list_stops(server, record)
    modes = (shapes.read_mode(mode) for stop in stops for mode in stop.modes)
    abilities = ABILITIES if has_streets else ABILITIES - {Ability.STEP_FREE}
    # MOTIS does not name the publishers of its feeds.
    operator = f"MOTIS at {split_address(record.url or '').hostname}; contact its operator for the data sources"
    return LearnedProfile(
        bounds=box_of([stop.coordinate for stop in stops]) if stops else None,
        zone=find_common_zone(stop.tz for stop in stops),
        feeds=tuple(FeedVersion(name=tag) for tag in _list_tags(stops)),
        modes=frozenset(modes),
        attribution=(operator, _OSM) if has_streets else (operator,),
        abilities=abilities,
        learned_at=clock.now(),
    )


def _learn_transitous(record: NetworkRecord) -> LearnedProfile:
    # Transitous's terms forbid listing its stops.
    if record.zone is None:
        raise ParameterError(
            "Transitous covers the world: give the time zone for times without an offset",
            {"field": "zone"},
            hint="For example --zone Europe/Berlin; --bounds S,W,N,E limits the network to part of the world",
        )
    return LearnedProfile(bounds=WORLD, attribution=ATTRIBUTION, abilities=ABILITIES, learned_at=clock.now())


async def _list_stops(server: MotisServer, record: NetworkRecord) -> Sequence[shapes.MotisPlace]:
    """Return the stops within the network's bounds, or nothing if there are too many but bounds and zone are known."""
    box = WORLD if record.bounds is None else Bounds(*record.bounds)
    try:
        stops = (await places.fetch_stops(server, box, fresh_s=0.0)).data
    except ResponseTooLarge as error:
        if record.bounds is None or record.zone is None:
            raise ParameterError(
                "The server has more stops than it lists at once, so its area or time zone is unknown",
                {"field": "zone" if record.zone is None else "bounds"},
                hint="Give --bounds S,W,N,E and --zone, such as --zone Europe/Berlin",
            ) from error
        return ()
    if not stops:
        raise SourceChanged("The server has no stops in that area", hint="Import a timetable, or correct --bounds")
    return stops


def _list_tags(stops: Iterable[shapes.MotisPlace]) -> list[str]:
    ids = (stop.stop_id for stop in stops if stop.stop_id is not None)
    return sorted({tag for stop_id in ids for tag, underscore, _ in [stop_id.partition("_")] if tag and underscore})


class MotisNetwork(ServerNetwork):
    def __init__(self, record: NetworkRecord, learned: LearnedProfile, fetch: Fetch) -> None:
        profile = new_remote_profile(record, learned, ABILITIES)
        # Ids from unknown feeds begin with the network's name.
        profile = replace(profile, feed_names=profile.feed_names | {record.name})
        if is_transitous(record.url):
            self.credit = "Retrieved from Transitous {retrieved}"
        ids = places.MotisStopIds(record.name, (feed.name for feed in learned.feeds))
        self._server = MotisServer(fetch, record)
        stops = places.MotisStopLookup(self._server, ids, profile.bounds)
        super().__init__(profile, record, learned, ids=ids, stops=stops)

    def _list_pages(self, request: JourneyRequest) -> AsyncIterator[JourneyPage]:
        return journeys.list_pages(self._server, self._ids, request)

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        try:
            boards = await self._fetch_boards(query)
        except OutsideCalendar as error:
            days = [error.details.get(name) for name in ("first_day", "last_day")]
            first, last = (None if day is None else date.fromisoformat(day) for day in days)
            board = self._new_board(query, (), (), notes=[f"{error.message}."])
            return replace(board, provenance=replace(board.provenance, first_day=first, last_day=last))
        pages = [(server_id, page) for server_id, board in boards.items() for page in board]
        times = [(server_id, time) for server_id, page in pages for time in page.data.stop_times]
        zone = next((time.place.tz for _, time in times if clock.is_zone(time.place.tz)), None) or self._profile.zone
        rows = list_rows(times, self._ids, ZoneInfo(zone))
        return self._new_board(query, rows, [page for _, page in pages], zone=zone)

    async def _fetch_boards(self, query: DepartureQuery) -> dict[str, Sequence[Answer[shapes.MotisStopTimes]]]:
        language = self._choose_language(query.language)
        before_s, after_s = (EARLIEST_S, LATEST_S) if query.by_schedule else (0, 0)
        first, last = query.instant - before_s, query.instant + query.window_s + after_s

        async def fetch(server_id: str) -> Sequence[Answer[shapes.MotisStopTimes]]:
            try:
                return await fetch_board(self._server, server_id, first, last, language)
            except UnknownToServer:
                # The server spells this id differently; that spelling is fetched, too.
                return []

        server_ids = self._ids.decode_all(query.stop_ids)
        return dict(zip(server_ids, await gather_all(map(fetch, server_ids)), strict=True))


# The server uses whole minutes.
_MARGIN_S = 60
_MAX_HALVINGS = 5


async def fetch_board(
    server: MotisServer, server_id: str, first: int, last: int, language: str | None, halvings: int = 0
) -> list[Answer[shapes.MotisStopTimes]]:
    """Return departures from exactly this stop between ``first`` and ``last``, and possibly some outside the window.

    If there are more rows than the server returns at once, split the window. Raise UnknownToServer for an unknown stop.
    """
    params = {
        "stopId": server_id,
        # Without an exact radius, the server adds stops with similar names.
        "exactRadius": "true",
        "radius": "0",
        "time": format_utc((first - _MARGIN_S) // 60 * 60),
        "window": str(last - first + 3 * _MARGIN_S),
    }
    try:
        answer = await server.fetch(MotisEndpoint.STOP_TIMES, shapes.MotisStopTimes, params, language=language)
    except ResponseTooLarge:
        if halvings == _MAX_HALVINGS or last - first <= _MARGIN_S:
            raise
        middle = (first + last) // 2
        earlier = await fetch_board(server, server_id, first, middle, language, halvings + 1)
        return [*earlier, *await fetch_board(server, server_id, middle, last, language, halvings + 1)]
    answer.require("departure", "stopTimes", found=answer.data.stop_times)
    return [answer]


def list_rows(times: Iterable[tuple[str, shapes.StopTime]], ids: StopIdCodec, zone: ZoneInfo) -> list[Departure]:
    """Return the distinct departures; ``times`` pairs each stop time with the server's id of the requested stop."""
    rows: dict[tuple[str, str, int], Departure] = {}
    for server_id, time in times:
        place = time.place
        cancelled = bool(time.cancelled or time.trip_cancelled)
        # Skip other stops at the same place, and stop times without boarding, which the server also lists.
        cannot_board = time.pickup_dropoff_type == journeys.NOT_ALLOWED and not cancelled
        if server_id not in (place.stop_id, place.parent_id) or place.departure is None or cannot_board:
            continue
        scheduled = place.departure if place.scheduled_departure is None else place.scheduled_departure
        trip_id = time.trip_id or ""
        line = journeys.name_line(time) or "?"
        row = Departure(
            line=line,
            mode=shapes.read_mode(time.mode, time.route_type),
            destination=journeys.find_destination(time) or line,
            scheduled=scheduled,
            stop_id=ids.encode(place.stop_id or server_id),
            trip_id=ids.encode_trip(trip_id),
            service_day=places.find_service_day(trip_id) or datetime.fromtimestamp(scheduled, zone).date(),
            departure_delay_s=place.departure - scheduled if time.real_time and not cancelled else None,
            cancelled=cancelled,
            platform=place.track or None,
            by_arrangement=time.mode in shapes.BY_ARRANGEMENT,
            long_name=time.route_long_name or None,
            colors=parse_line_colors(time.route_color, time.route_text_color),
            alerts=journeys.list_active_alerts(place.alerts, place.departure, place.departure),
        )
        rows[row.stop_id, row.trip_id, row.scheduled] = row
    return list(rows.values())


class MotisSource(ServerSource):
    learn_profile = staticmethod(learn_profile)
    open_network = staticmethod(MotisNetwork)
