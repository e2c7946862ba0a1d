"""The command ``timetable``: the scheduled departures of a stop, at any time of any day."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer

from fingerpost import clock
from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import Json, open_application, show_answer
from fingerpost.apps.cli.clock_texts import read_typed_instant
from fingerpost.apps.cli.output import complain, print_json
from fingerpost.errors import ToolError
from fingerpost.transit.rules.times import PAST_AFTER_S

if TYPE_CHECKING:
    from fingerpost.apps.wiring import Application

# Without --until a person is shown so much.
WINDOW = timedelta(hours=1)
_LONGEST_S = 86_400


def timetable(
    ctx: typer.Context,
    stop: Annotated[str, typer.Argument(help="A stop's name or id, or a saved name.")],
    at: Annotated[str | None, typer.Option(help="From then: HH:MM, the next one, or ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option(help="To then, likewise, up to a day after --at; else an hour.")] = None,
    limit: Annotated[int | None, typer.Option(help="How many to show.")] = None,
    as_json: Json = False,
) -> None:
    """Show a stop's timetable: what is scheduled, at any time."""
    application = open_application(ctx.obj)
    stop_id, zone = _find_stop(application, stop, as_json=as_json)
    now = clock.now().astimezone(zone)
    since = now if at is None else read_typed_instant(at, zone, now - timedelta(seconds=PAST_AFTER_S), now)
    last = since + WINDOW if until is None else read_typed_instant(until, zone, since, now)
    # Seconds, because datetimes of one zone are compared by what clocks show.
    if not as_json and not 0 < last.timestamp() - since.timestamp() <= _LONGEST_S:
        given = (f"{instant.astimezone(zone):%Y-%m-%dT%H:%M}" for instant in (since, last))
        raise typer.BadParameter("--until must be after --at, by a day at most: {} and {} ({})".format(*given, zone))
    arguments: dict[str, Any] = {"stopId": stop_id, "until": last.isoformat(timespec="seconds"), "wholePlace": True}
    if at is not None:
        arguments["at"] = since.isoformat(timespec="seconds")
    if limit is not None:
        arguments["maxDepartures"] = limit
    show_answer(application, "getStopTimetable", arguments, as_json=as_json)


def _find_stop(application: "Application", label: str, *, as_json: bool) -> tuple[str, ZoneInfo]:
    """Return the id and the zone of the stop that is meant; where none is, say so and end."""
    from fingerpost.apps.cli.zones import get_stop, get_zone

    try:
        found = get_stop(application, label)
    except ToolError as error:
        if as_json:
            from fingerpost.contract.envelope import Family, render_error

            print_json(render_error(error, Family.LOOKUP, ""))
        else:
            complain(error)
        raise typer.Exit(TOOL_ERROR) from error
    return found.place.id or label, get_zone(found)
