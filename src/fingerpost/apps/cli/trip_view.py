"""Print planned itineraries."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fingerpost.apps.cli.output import new_console, style_note
from fingerpost.apps.cli.wire_times import clock_of, day_of, minutes_of, seconds_between, today_in
from fingerpost.transit.rules.modes import is_ride, name_ride

_WORTH_A_LINE_S = 60
_WIDEST_LINE = 72
_STYLES: Mapping[str, str] = MappingProxyType(
    {"BUS": "blue", "TRAM": "green", "METRO": "dark_orange", "RAIL": "magenta", "FERRY": "cyan"}
)
_INDENT = "   "
_LEAST = 3


def print_trip(body: dict[str, Any]) -> None:
    """Print an answer of plan_trip."""
    console = new_console()
    requested = body["requested"]
    today = today_in(body["meta"]["timeZone"])
    since = datetime.fromisoformat(requested["time"])
    console.print(Text(f"{_end(body['origin'])} to {_end(body['destination'])}", "bold"))
    verb = "arrive by" if requested["type"] == "arrive" else "leave after"
    console.print(
        f"{verb} {clock_of(requested['time'], since)}, {day_of(requested['time'], today)} ({body['meta']['timeZone']})"
    )
    differences = {each["fingerprint"]: each for each in body["meta"].get("differences", ())}
    stays = {each["fingerprint"]: each["legs"] for each in body["meta"].get("staySeated", ())}
    for number, itinerary in enumerate(body["itineraries"], 1):
        console.print()
        name = itinerary.get("fingerprint")
        _print_itinerary(console, number, itinerary, since, differences.get(name), stays.get(name, ()))
    console.print()
    for note in _list_notes(body):
        console.print(style_note(note))


def _list_notes(body: dict[str, Any]) -> list[str]:
    # Here: the shapes take longer to import than --help may last.
    from fingerpost.transit.tools.alert_shapes import describe_trip_alerts

    warnings = [f"! {warning['message']}" for warning in body.get("warnings", ())]
    notes = [f"! {note}" for note in body["meta"].get("notes", ())]
    attribution = [f"Data: {'; '.join(body['meta']['attribution'])}"] if body["meta"].get("attribution") else []
    return [*warnings, *describe_trip_alerts(body), *notes, *attribution]


def _print_itinerary(
    console: Console,
    number: int,
    itinerary: dict[str, Any],
    since: datetime,
    difference: dict[str, Any] | None,
    stays: Sequence[int],
) -> None:
    legs = itinerary["legs"]
    changes = itinerary["numberOfTransfers"]
    head = Text.assemble(
        (f"{number}. ", "bold"),
        (f"{clock_of(legs[0]['departureTime'], since)} to {clock_of(legs[-1]['arrivalTime'], since)}", "bold"),
        f"  {minutes_of(itinerary['totalDuration'])}, {_changes(changes)}, {itinerary['walkingDistance']} m on foot",
    )
    console.print(head)
    if can_draw(console):
        console.print(draw_trip_line(legs, min(console.width, _WIDEST_LINE)))
    if itinerary.get("DisruptionNote"):
        console.print(Text(f"   {itinerary['DisruptionNote']}", "bold red"))
    elif difference is not None:
        console.print(Text(f"   {_describe_difference(difference)}", "yellow"))
    elif itinerary.get("DisruptionFlag"):
        console.print(Text("   Instead of a disrupted trip", "yellow"))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for at, (earlier, leg) in enumerate(zip([None, *legs], legs, strict=False)):
        if at in stays:
            table.add_row("", Text("stay seated", "dim"))
        elif earlier is not None:
            _add_wait(table, seconds_between(earlier["arrivalTime"], leg["departureTime"]))
        _add_leg(table, leg, since)
    table.add_row(f"   {clock_of(legs[-1]['arrivalTime'], since)}", "arrive")
    console.print(table)
    for note in itinerary.get("accessibilityNotes", ()):
        console.print(Text(f"   {note}", "dim"))


def _describe_difference(difference: dict[str, Any]) -> str:
    """Return how an itinerary differs from the usual one (time, transfers, walking), and why it is needed."""
    minutes = difference["laterMinutes"]
    later = f"{abs(minutes)} min {'later' if minutes >= 0 else 'earlier'}"
    tight = ", a change is tight" if difference["connectionRisk"] == "tight" else ""
    return f"Instead of a disrupted trip, {later}{tight}: {difference['cause']['text']}"


def _add_leg(table: Table, leg: dict[str, Any], since: datetime) -> None:
    time = f"   {clock_of(leg['departureTime'], since)}"
    if not is_ride(leg["mode"]):
        metres = f" {leg['distance']:.0f} m," if "distance" in leg else ""
        table.add_row(time, Text(f"{leg['mode'].lower()}{metres} {minutes_of(leg['duration'])} to {leg['to']['name']}"))
        return
    direction = f" towards {leg['headsign']}" if leg.get("headsign") else ""
    ride = Text.assemble(
        (name_ride(leg["mode"], leg.get("line")), "bold cyan"),
        direction,
        f", from {_stop(leg['from'])}",
        f" to {_stop(leg['to'])} at {clock_of(leg['arrivalTime'], since)}",
    )
    status = status_text(leg.get("status"), leg.get("delaySeconds"))
    if status:
        ride.append("  ").append_text(status)
    table.add_row(time, ride)
    if leg.get("disruptionNote"):
        table.add_row("", Text(leg["disruptionNote"], "red"))


def _add_wait(table: Table, wait_s: float) -> None:
    if wait_s >= _WORTH_A_LINE_S:
        table.add_row("", Text(f"wait {minutes_of(wait_s)}", "dim"))


def status_text(status: str | None, delay_s: int | None) -> Text:
    """Return a departure's realtime status as coloured text, empty where none is known."""
    if status == "cancelled":
        return Text("CANCELLED", "bold red")
    if status == "delayed" and delay_s is not None:
        late = "late" if delay_s > 0 else "early"
        return Text(f"{minutes_of(abs(delay_s))} {late}", "yellow")
    return Text("on time", "green") if status == "on_time" else Text()


def _changes(count: int) -> str:
    return f"{count} change" if count == 1 else f"{count or 'no'} changes"


def _stop(stop: dict[str, Any]) -> str:
    return f"{stop['name']} (platform {stop['platform']})" if stop.get("platform") else str(stop["name"])


def _end(end: dict[str, Any]) -> str:
    """Return the name of an origin or destination: the saved name, else the place's name, else its position."""
    name, label = end.get("name"), end.get("label")
    if end["rawSource"] == "user-variable" and label:
        return f"{label} ({name})" if name else str(label)
    if name or label:
        return str(name or label)
    return f"{end['coordinate']['lat']},{end['coordinate']['lon']}"


def can_draw(console: Console) -> bool:
    """Whether the output is a terminal that has these letters."""
    return console.is_terminal and console.encoding.lower().startswith("utf")


def draw_trip_line(legs: Sequence[Mapping[str, Any]], width: int) -> Text:
    """Return the drawing, at most ``width`` columns wide: a ride is a line with its name, a walk is dotted."""
    room = width - len(_INDENT) - 1
    lasting = [max(1.0, seconds_between(leg["departureTime"], leg["arrivalTime"])) for leg in legs]
    names = [(leg.get("line") or leg["mode"]) if is_ride(leg["mode"]) else "" for leg in legs]
    least = [max(_LEAST, len(name) + 2 if name else 0) + 1 for name in names]
    spare = max(0, room - sum(least))
    drawing = Text(_INDENT)
    for leg, seconds, name, columns in zip(legs, lasting, names, least, strict=True):
        long = columns - 1 + int(spare * seconds / sum(lasting))
        drawing.append("●")
        if not name:
            drawing.append("┄" * long, "dim")
        else:
            style = "bold red" if leg.get("status") == "cancelled" else f"bold {_STYLES.get(leg['mode'], 'white')}"
            drawing.append(name.center(long, "━"), style)
    drawing.append("●")
    drawing.truncate(width)
    return drawing
