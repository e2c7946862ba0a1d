"""Departure boards, from the server's stop times."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.line_colors import read_line_colors
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.stop_ids import StopIdBook
from fingerpost.transit.remote.motis.itineraries import destination_of, line_of, list_in_force
from fingerpost.transit.remote.motis.places import find_service_day
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer, TooMuchAsked
from fingerpost.transit.remote.motis.shapes import BY_ARRANGEMENT, MotisStopTimes, StopTime, read_mode
from fingerpost.transit.rules.times import print_utc

# The server counts minutes, so a little more is asked for at both ends.
_MARGIN_S = 60
# A window that holds more than the server gives at once is halved this often at most.
_MOST_HALVINGS = 5
_NOT_ALLOWED = "NOT_ALLOWED"


async def ask_board(
    server: MotisServer, own_id: str, first: int, last: int, language: str | None, halvings: int = 0
) -> list[Answer[MotisStopTimes]]:
    """Return the departures of exactly that stop from ``first`` to ``last``, and perhaps some around them.

    Raises:
        UnknownThere: the server does not know the stop.
    """
    params = {
        "stopId": own_id,
        # Else the server adds whatever is called alike.
        "exactRadius": "true",
        "radius": "0",
        "time": print_utc((first - _MARGIN_S) // 60 * 60),
        "window": str(last - first + 3 * _MARGIN_S),
    }
    try:
        answered = await server.ask(MotisEndpoint.STOP_TIMES, MotisStopTimes, params, language=language)
    except TooMuchAsked:
        if halvings == _MOST_HALVINGS or last - first <= _MARGIN_S:
            raise
        middle = (first + last) // 2
        earlier = await ask_board(server, own_id, first, middle, language, halvings + 1)
        return [*earlier, *await ask_board(server, own_id, middle, last, language, halvings + 1)]
    answered.require("departure", "stopTimes", found=answered.data.stop_times)
    return [answered]


def list_rows(times: Iterable[tuple[str, StopTime]], ids: StopIdBook, zone: ZoneInfo) -> Iterable[Departure]:
    """Return departures, each once; ``times`` are stop times, each with the server's id of the stop of its board."""
    return {(row.stop_id, row.trip_id, row.scheduled): row for row in _rows(times, ids, zone)}.values()


def _rows(times: Iterable[tuple[str, StopTime]], ids: StopIdBook, zone: ZoneInfo) -> Iterator[Departure]:
    for own_id, time in times:
        place = time.place
        cancelled = bool(time.cancelled or time.trip_cancelled)
        # Stops on the very same spot come along, and calls at which nobody may board.
        is_off = time.pickup_dropoff_type == _NOT_ALLOWED and not cancelled
        if own_id not in (place.stop_id, place.parent_id) or place.departure is None or is_off:
            continue
        scheduled = place.departure if place.scheduled_departure is None else place.scheduled_departure
        trip_id = time.trip_id or ""
        line = line_of(time) or "?"
        yield Departure(
            line=line,
            mode=read_mode(time.mode, time.route_type),
            destination=destination_of(time) or line,
            scheduled=scheduled,
            stop_id=ids.print(place.stop_id or own_id),
            trip_id=ids.print_trip(trip_id),
            service_day=find_service_day(trip_id) or datetime.fromtimestamp(scheduled, zone).date(),
            departure_delay_s=place.departure - scheduled if time.real_time and not cancelled else None,
            cancelled=cancelled,
            platform=place.track or None,
            by_arrangement=time.mode in BY_ARRANGEMENT,
            long_name=time.route_long_name or None,
            colors=read_line_colors(time.route_color, time.route_text_color),
            alerts=list_in_force(place.alerts, place.departure, place.departure),
        )
