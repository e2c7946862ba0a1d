"""The command ``timetable``: the scheduled departures of a stop, at any time of any day."""

from datetime import datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

from fingerpost import clock
from fingerpost.apps.cli.application import TOOL_ERROR, Json, ask_once, open_application
from fingerpost.apps.cli.clock_texts import read_typed_instant
from fingerpost.apps.cli.output import complain, print_answer, print_json, print_more, typed
from fingerpost.errors import ToolError
from fingerpost.transit.rules.times import PAST_AFTER_S

# Without --until a person is shown so much.
WINDOW = timedelta(hours=1)
_LONGEST = timedelta(days=1)


def timetable(
    ctx: typer.Context,
    stop: Annotated[str, typer.Argument(help="A stop's name or id, or a saved name.")],
    at: Annotated[str | None, typer.Option(help="From then: HH:MM, the next one, or ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option(help="To then, likewise, up to a day after --at; else an hour.")] = None,
    limit: Annotated[int | None, typer.Option(help="How many to show.")] = None,
    as_json: Json = False,
) -> None:
    """Show a stop's timetable: what is scheduled, at any time."""
    stop_id, zone = _find_stop(ctx, stop, as_json=as_json)
    now = clock.now().astimezone(zone)
    since = now if at is None else read_typed_instant(at, zone, now - timedelta(seconds=PAST_AFTER_S), now)
    last = since + WINDOW if until is None else read_typed_instant(until, zone, since, now)
    if not as_json:
        _check_window(since.astimezone(zone), last.astimezone(zone), zone.key)
    arguments: dict[str, Any] = {"stopId": stop_id, "until": last.isoformat(timespec="seconds"), "wholePlace": True}
    if at is not None:
        arguments["at"] = since.isoformat(timespec="seconds")
    if limit is not None:
        arguments["maxDepartures"] = limit
    answer = ask_once(ctx, "getStopTimetable", arguments, as_json=as_json)
    if not as_json:
        print_answer(answer.text)
        print_more(_list_more(stop, limit, since.astimezone(zone), last.astimezone(zone), answer.body))


def _find_stop(ctx: typer.Context, label: str, *, as_json: bool) -> tuple[str, ZoneInfo]:
    """Return the id and the zone of the stop that is meant; where none is, say so and end."""
    from fingerpost.apps.cli.zones import get_stop, get_zone

    try:
        found = get_stop(open_application(ctx.obj), label)
    except ToolError as error:
        if as_json:
            from fingerpost.contract.envelope import Family, render_error

            print_json(render_error(error, Family.LOOKUP, ""))
        else:
            complain(error)
        raise typer.Exit(TOOL_ERROR) from error
    return found.place.id or label, get_zone(found)


def _check_window(since: datetime, last: datetime, zone: str) -> None:
    """Refuse a window that the tool would refuse, in the words of the options and the times of the network.

    Raises:
        typer.BadParameter: it is empty, or longer than a day.
    """
    # Of one zone, datetimes would be compared by what clocks show.
    lasts = timedelta(seconds=last.timestamp() - since.timestamp())
    if timedelta(0) < lasts <= _LONGEST:
        return
    rule, instead = (
        ("later than", since + WINDOW) if lasts <= timedelta(0) else ("at most a day after", since + _LONGEST)
    )
    raise typer.BadParameter(
        f"--until must be {rule} --at: that is {_say(since)} and --until {_say(last)} ({zone}); "
        f"write --until {instead:%Y-%m-%dT%H:%M}"
    )


def _say(instant: datetime) -> str:
    return f"{instant:%a} {instant.day} {instant:%b %H:%M}"


def _list_more(stop: str, limit: int | None, since: datetime, last: datetime, body: dict[str, Any]) -> dict[str, str]:
    """Return the commands for what comes later and what came earlier."""
    window = last - since
    options = [] if limit is None else ["--limit", str(limit)]
    rest = body["meta"].get("nextDeparture")
    later = (last, last + window) if rest is None else (datetime.fromisoformat(rest).astimezone(since.tzinfo), last)
    spans = {"later": later, "earlier": (since - window, since)}
    return {
        word: typed("timetable", stop, "--at", _print(first), "--until", _print(end), *options)
        for word, (first, end) in spans.items()
    }


def _print(instant: datetime) -> str:
    return instant.isoformat(timespec="seconds")
