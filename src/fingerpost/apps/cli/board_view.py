"""Print a departure board as a table."""

from datetime import datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from fingerpost.apps.cli.fitting_table import new_table
from fingerpost.apps.cli.footnotes import list_below, print_below
from fingerpost.apps.cli.output import new_console
from fingerpost.apps.cli.trip_view import status_text
from fingerpost.apps.cli.wire_times import clock_of, day_of, today_in


def print_board(body: dict[str, Any]) -> None:
    """Print an answer of get_departures."""
    console = new_console()
    title, rows = draw_board(body)
    console.print(title)
    console.print(rows, soft_wrap=True)
    from fingerpost.transit.tools.alert_shapes import describe_board_alerts

    print_below(console, body, describe_board_alerts(body))


def draw_board(body: dict[str, Any]) -> tuple[Text, Table | str]:
    """Return the title of a board, and its rows as a table, or a sentence where there are none."""
    meta, rows = body["meta"], body["departures"]
    since = datetime.fromisoformat(meta.get("at", body["dataFreshness"]))
    times = meta["timeZone"]
    if "at" in meta:
        times = f"from {clock_of(meta['at'], since)}, {day_of(meta['at'], today_in(times))} ({times})"
    title = Text.assemble((body.get("stopName", ""), "bold"), f" ({body['stopId']})  {times}")
    has_platforms = any(row.get("platform") for row in rows)
    leaving = {each["departure"]: each for each in meta.get("leaveBy", ())}
    optional = [*(["platform"] if has_platforms else []), *(["leave by"] if leaving else [])]
    table = new_table("time", "line", "destination", *optional, "")
    for at, row in enumerate(rows):
        status = status_text(row["status"], row.get("delaySeconds"))
        line = Text(f"{row['mode']} {row['line']}", "bold cyan")
        platform = [row.get("platform", "")] if has_platforms else []
        leave = [_say_leaving(leaving.get(at), meta["retrievedAt"], since)] if leaving else []
        table.add_row(clock_of(row["scheduledTime"], since), line, row["destination"], *platform, *leave, status)
    why = meta.get("whyEmpty", "")
    return title, table if rows else f"No departures in this window. {why}".strip()


def _say_leaving(leave: dict[str, Any] | None, now: str, since: datetime) -> str:
    """Return when to leave for a row; what has to be left before now cannot be caught any more."""
    if leave is None:
        return "-"
    is_late = datetime.fromisoformat(leave["at"]) < datetime.fromisoformat(now)
    return "too late" if is_late else clock_of(leave["at"], since)


def list_board_notes(body: dict[str, Any]) -> list[Text]:
    """Return the lines below a board."""
    from fingerpost.transit.tools.alert_shapes import describe_board_alerts

    return list_below(body, describe_board_alerts(body))
