"""Print a departure board as a table."""

from datetime import datetime
from typing import Any

from rich.text import Text

from fingerpost.apps.cli.footnotes import print_below
from fingerpost.apps.cli.output import new_console
from fingerpost.apps.cli.place_views import new_table
from fingerpost.apps.cli.trip_view import status_text
from fingerpost.apps.cli.wire_times import clock_of, day_of, today_in


def print_board(body: dict[str, Any]) -> None:
    """Print an answer of get_departures."""
    console = new_console()
    meta, rows = body["meta"], body["departures"]
    day = datetime.fromisoformat(meta.get("at", body["dataFreshness"])).date()
    times = meta["timeZone"]
    if "at" in meta:
        times = f"from {clock_of(meta['at'], day)}, {day_of(meta['at'], today_in(times))} ({times})"
    console.print(Text.assemble((body.get("stopName", ""), "bold"), f" ({body['stopId']})  {times}"))
    has_platforms = any(row.get("platform") for row in rows)
    table = new_table("time", "line", "destination", *(["platform"] if has_platforms else []), "")
    for row in rows:
        status = status_text(row["status"], row.get("delaySeconds"))
        line = Text(f"{row['mode']} {row['line']}", "bold cyan")
        platform = [row.get("platform", "")] if has_platforms else []
        table.add_row(clock_of(row["scheduledTime"], day), line, row["destination"], *platform, status)
    why = meta.get("whyEmpty", "")
    console.print(table if rows else f"No departures in this window. {why}".strip(), soft_wrap=True)
    from fingerpost.tools.alert_shapes import describe_board_alerts

    print_below(console, body, describe_board_alerts(body))
