"""Print what follows every answer: warnings, notes and attribution."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text


def print_below(console: Console, body: dict[str, Any], alerts: Sequence[str] = ()) -> None:
    """Print an answer's warnings, its alerts (as lines), its notes such as the demo's, and whose data it is."""
    lines = list_below(body, alerts)
    if lines:
        console.print()
    for line in lines:
        console.print(line)


def list_below(body: dict[str, Any], alerts: Sequence[str] = ()) -> list[Text]:
    """Return the lines of ``print_below``."""
    lines = [Text(f"! {warning['message']}", "yellow") for warning in body.get("warnings", ())]
    lines += [Text(line, "yellow") for line in alerts]
    lines += [Text(f"! {note}", "yellow") for note in body["meta"].get("notes", ())]
    if body["meta"].get("attribution"):
        lines.append(Text(f"Data: {'; '.join(body['meta']['attribution'])}", "dim"))
    return lines
