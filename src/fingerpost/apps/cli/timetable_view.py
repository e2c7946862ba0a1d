"""Print a stop's timetable."""

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from fingerpost.apps.cli.fitting_table import new_table
from fingerpost.apps.cli.footnotes import print_below
from fingerpost.apps.cli.output import new_console
from fingerpost.apps.cli.typed_commands import print_more


def print_timetable(body: dict[str, Any], more: Mapping[str, str]) -> None:
    """Print an answer of getStopTimetable in the zone of the stop; ``more`` are commands for later and earlier."""
    from fingerpost.transit.tools.stop_timetable_shapes import list_remarks, new_times

    console = new_console()
    rows, metadata, meta = body["departures"], body["metadata"], body["meta"]
    times = new_times(body)
    day = times.day(rows[0]["scheduledTime"]) if rows else ""
    name = (meta["stop"]["name"], "bold")
    console.print(Text.assemble(name, f" ({meta['stop']['id']})  {day} {times.zone}".replace("  ", " ")))
    table = new_table("time", "line", "destination")
    for row in rows:
        line = Text(f"{row['mode']} {row['routeShortName']}", "bold cyan")
        table.add_row(times.clock(row["scheduledTime"], day), line, row.get("headsign", ""))
    why = f"No departures in this window. {times.sentence(meta.get('whyEmpty', ''))}".strip()
    console.print(table if rows else why, soft_wrap=True)
    last = new_table("line", "destination", "first", "last", "departures")
    for line in meta.get("lines", ()):
        ends = [times.clock(line[end], day) for end in ("first", "last")]
        last.add_row(line["routeShortName"], line.get("headsign", ""), *ends, str(line["departures"]))
    if len(rows) > len(meta.get("lines", ())) > 0:
        console.print()
        console.print(last)
    print_below(console, {**body, "warnings": metadata.get("warnings", ())}, list_remarks(body))
    print_more(console, more)
