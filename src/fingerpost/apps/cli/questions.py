"""The commands that call one tool: ``plan``, ``departures``, ``find``, ``stops``, ``call``."""

import json
import re
import sys
from datetime import datetime, timedelta, tzinfo
from typing import Annotated, Any

import typer

from fingerpost import clock
from fingerpost.apps.cli.application import TOOL_ERROR, USAGE, Json, ask, ask_once, open_application
from fingerpost.apps.cli.clock_texts import check_typed_instant, is_clock_time, next_clock_time
from fingerpost.apps.cli.follow_board import EVERY_S, follow_board
from fingerpost.apps.cli.output import print_answer, print_json, print_more, say, typed
from fingerpost.apps.cli.trip_view import print_trip
from fingerpost.transit.rules.times import PAST_AFTER_S

_POSITION = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*")

_Language = Annotated[str | None, typer.Option("--lang", help="fi, sv or en.")]
_Limit = Annotated[int | None, typer.Option(help="How many to show.")]


def plan(
    ctx: typer.Context,
    origin: Annotated[str, typer.Argument(metavar="FROM", help="A place, a saved name, a stop id, or lat,lon.")],
    destination: Annotated[str, typer.Argument(metavar="TO", help="Likewise.")],
    at: Annotated[
        str | None, typer.Option(help="Leave then: 09:00, 9am, tomorrow 09:00, monday 9am, or ISO 8601.")
    ] = None,
    arrive: Annotated[str | None, typer.Option(help="Be there then; likewise.")] = None,
    limit: _Limit = None,
    max_walk: Annotated[float | None, typer.Option(help="Metres of walking in all.")] = None,
    max_transfers: Annotated[int | None, typer.Option(help="How often to change.")] = None,
    optimize: Annotated[str | None, typer.Option(help="balanced, few_transfers or shortest_time.")] = None,
    step_free: Annotated[bool, typer.Option("--step-free", help="Only what a wheelchair can use.")] = False,
    lang: _Language = None,
    as_json: Json = False,
) -> None:
    """Plan a trip."""
    if at is not None and arrive is not None:
        raise typer.BadParameter("take --at or --arrive, not both")
    constraints = _present(
        optimize=optimize,
        maxWalkingDistance=max_walk,
        maxTransfers=max_transfers,
        accessibility={"stepFree": True} if step_free else None,
        language=lang,
    )
    ends = {"origin": _end(origin), "destination": _end(destination)}
    arguments = _present(**ends, when=_when(ctx, ends, at, arrive), constraints=constraints or None, limit=limit)
    answer = ask_once(ctx, "plan_trip", arguments, as_json=as_json)
    if not as_json:
        print_trip(answer.body)
        print_more(_list_more(ctx, answer.body))


def departures(
    ctx: typer.Context,
    stop: Annotated[str, typer.Argument(help="A stop's name or id, or a saved name.")],
    window: Annotated[int | None, typer.Option(help="Minutes to look ahead.")] = None,
    at: Annotated[
        str | None, typer.Option(help="From then: 09:00, 9am, tomorrow 09:00, monday 9am, or ISO 8601.")
    ] = None,
    walk_from: Annotated[
        str | None, typer.Option("--from", help="Say when to leave: a saved place, or LAT,LON.")
    ] = None,
    limit: _Limit = None,
    lang: _Language = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Show it anew until Ctrl-C.")] = False,
    every: Annotated[int, typer.Option(min=5, max=3600, help="Seconds between two boards of --follow.")] = EVERY_S,
    as_json: Json = False,
) -> None:
    """Show a stop's departures."""
    if follow and at is not None:
        raise typer.BadParameter("--follow shows what leaves from now on; take it or --at, not both")
    since = _stop_instant(ctx, stop, at)
    arguments = _present(
        stop={"type": "label", "value": stop}, windowMinutes=window, limit=limit, language=lang, at=since,
        walkFrom=walk_from,
    )  # fmt: skip
    if follow:
        follow_board(open_application(ctx.obj), arguments, every_s=every, as_json=as_json)
        return
    answer = ask_once(ctx, "get_departures", arguments, as_json=as_json)
    if not as_json:
        print_answer(answer.text)


def find(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="What the place is called.")],
    lang: _Language = None,
    as_json: Json = False,
) -> None:
    """Find a stop or place by its name."""
    arguments = _present(rawText=text, languagePreference=lang)
    answer = ask_once(ctx, "findAddressOrStop", arguments, as_json=as_json)
    if not as_json:
        print_answer(answer.text)


def stops(
    ctx: typer.Context,
    lat: Annotated[str, typer.Argument(metavar="LAT", help="Degrees; or both, as LAT,LON.")],
    lon: Annotated[str | None, typer.Argument(metavar="LON", help="Degrees.")] = None,
    radius: Annotated[int | None, typer.Option(help="Metres.")] = None,
    limit: _Limit = None,
    lang: _Language = None,
    as_json: Json = False,
) -> None:
    """List the stops near a point."""
    coordinate = read_position(lat if lon is None else f"{lat},{lon}")
    if coordinate is None:
        raise typer.BadParameter(
            "a point is two numbers: fingerpost stops 60.17 24.93; to look a name up: fingerpost find NAME"
        )
    arguments = _present(coordinate=coordinate, radius=radius, maxResults=limit, language=lang)
    answer = ask_once(ctx, "find_stops", arguments, as_json=as_json)
    if not as_json:
        print_answer(answer.text)


def call(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="A tool's name.")],
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="Its arguments as JSON; - reads stdin.")] = "{}",
) -> None:
    """Call a tool and print its envelope."""
    application = open_application(ctx.obj)
    if tool not in application.tools:
        say(f"There is no tool {tool}. The tools are: {', '.join(application.tools)}.")
        for name, reason in application.left_out.items():
            say(f"Left out: {name}: {reason}.")
        raise typer.Exit(USAGE)
    raw, is_json = _read_json(arguments)
    answer = ask(application, tool, raw)
    print_json(answer.body)
    if answer.is_error:
        raise typer.Exit(TOOL_ERROR if is_json else USAGE)


def read_position(text: str) -> dict[str, float] | None:
    """Return the position that ``LAT,LON`` names, in degrees, as tools read it; None for any other text."""
    found = _POSITION.fullmatch(text)
    return None if found is None else {"lat": float(found[1]), "lon": float(found[2])}


def _read_json(text: str) -> tuple[Any, bool]:
    """Return the arguments, and whether they are JSON; else they are the text itself."""
    try:
        return json.loads(sys.stdin.buffer.read() if text == "-" else text), True
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        say(f"The arguments are not JSON: {reason}.")
        # The tool answers text in its own envelope, as it answers anything that is no object.
        return text, False


def _end(text: str) -> dict[str, Any]:
    position = read_position(text)
    return {"type": "label", "value": text} if position is None else {"type": "coords", "value": position}


def _when(
    ctx: typer.Context, ends: dict[str, dict[str, Any]], at: str | None, arrive: str | None
) -> dict[str, str] | None:
    if arrive is not None:
        return {"type": "arrive", "time": _instant(ctx, ends, arrive)}
    return None if at is None else {"type": "depart", "time": _instant(ctx, ends, at)}


def _instant(ctx: typer.Context, ends: dict[str, dict[str, Any]], text: str) -> str:
    """Return what a person wrote as the contract reads it: a bare time is the next one in the network's zone.

    One that has just passed still means now (rule B12).
    """
    if not is_clock_time(text):
        return check_typed_instant(text)
    from fingerpost.apps.cli.zones import find_trip_zone

    return _next(text, find_trip_zone(open_application(ctx.obj), ends["origin"], ends["destination"]))


def _next(text: str, zone: tzinfo) -> str:
    now = clock.now().astimezone(zone)
    return f"{next_clock_time(text, now - timedelta(seconds=PAST_AFTER_S), now):%Y-%m-%dT%H:%M:%S}"


def _stop_instant(ctx: typer.Context, stop: str, text: str | None) -> str | None:
    """Return what a person wrote as get_departures reads it; where the stop is unusable, the tool says so."""
    if text is None:
        return None
    if not is_clock_time(text):
        return check_typed_instant(text)
    from fingerpost.apps.cli.zones import find_stop_zone

    return _next(text, find_stop_zone(open_application(ctx.obj), stop))


def _list_more(ctx: typer.Context, body: dict[str, Any]) -> dict[str, str]:
    """Return the commands for later itineraries, and for earlier ones unless they would lie in the past."""
    legs = [each["legs"] for each in body["itineraries"]]
    later = max(datetime.fromisoformat(each[0]["departureTime"]) for each in legs) + timedelta(minutes=1)
    earlier = min(datetime.fromisoformat(each[-1]["arrivalTime"]) for each in legs) - timedelta(minutes=1)
    words = _list_words(ctx)
    more = {"later": typed(*words, "--at", later.isoformat(timespec="seconds"))}
    requested = body["requested"]
    is_from_now = datetime.fromisoformat(requested["time"]) <= clock.now() + timedelta(seconds=PAST_AFTER_S)
    if requested["type"] == "arrive" or not is_from_now:
        more["earlier"] = typed(*words, "--arrive", earlier.isoformat(timespec="seconds"))
    return more


def _list_words(ctx: typer.Context) -> list[str]:
    """Return the words of a plan command as they were typed, without its times."""
    given = ctx.params
    words = ["plan", given["origin"], given["destination"]]
    for name in ("limit", "max_walk", "max_transfers", "optimize", "lang"):
        if given[name] is not None:
            value = given[name]
            words += [f"--{name.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value)]
    return [*words, "--step-free"] if given["step_free"] else words


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
