"""Networks and their records as a person wants to read them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from fingerpost.apps.cli.output import new_console
from fingerpost.apps.cli.place_views import new_table
from fingerpost.apps.cli.report_view import days_of
from fingerpost.apps.source_kinds import EMBEDDED
from fingerpost.errors import ToolError

if TYPE_CHECKING:
    from fingerpost.store.network_records import NetworkRecord, NetworkRecords
    from fingerpost.transit.timetable.shelf import Shelf


def print_networks(records: "NetworkRecords", shelf: "Shelf", *, demo_mode: str) -> None:
    """Print every added network and the demos, then what is to be said of single ones."""
    from fingerpost.transit.demo.catalogue import list_demo_names
    from fingerpost.transit.networks.composite import DemoMode, do_demos_answer

    table = new_table("network", "days", "added", "source")
    notes: list[str] = []
    prepared = shelf.list_names()
    for name, record in sorted(records.records.items()):
        days, added, note = _describe(record, shelf, name in prepared)
        table.add_row(name, days, added, record.source)
        notes += [note] if note else []
        notes += [f"Real time of {name}: {text}" for text in record.realtime]
    for name in list_demo_names():
        table.add_row(name, "any", "ships with fingerpost", "demo")
    has_networks = bool(records.records or records.problems)
    notes.append(_say_demos(answer=do_demos_answer(DemoMode(demo_mode), has_networks=has_networks), mode=demo_mode))
    for name, problem in records.problems.items():
        notes.append(f"{name} cannot be used: {problem}.")
    for name in prepared:
        if name not in records.records and name not in records.problems:
            notes.append(
                f"{name} was prepared, but has no record and does not answer: its `network add` did not come to its "
                f"end. Add it again, or run `fingerpost network remove {name}`."
            )
    console = new_console()
    console.print(table)
    for note in notes:
        console.print(note, soft_wrap=True)


def _say_demos(*, answer: bool, mode: str) -> str:
    if answer:
        until = "until a network is added" if mode == "auto" else "because FINGERPOST_DEMO is on"
        return f"Demo networks answer, {until}."
    why = "a network was added" if mode == "auto" else "FINGERPOST_DEMO is off"
    return f"Demo networks answer for their own stop ids only, because {why}."


def _describe(record: "NetworkRecord", shelf: "Shelf", is_prepared: bool) -> tuple[str, str, str | None]:
    """Return a network's days, when it was added, and a sentence where it wants something done."""
    from fingerpost.apps.overview import find_report

    if record.source != EMBEDDED:
        return "asks its source", "", None
    if not is_prepared:
        return (
            "not prepared",
            "",
            f"Nothing is prepared of {record.name}. Run `fingerpost network refresh {record.name}`.",
        )
    report = find_report(shelf, record.name)
    days = "its import report cannot be read" if report is None else days_of(report)
    try:
        entry = shelf.get(record.name)
    except ToolError:
        return days, "unreadable; add it again", None
    return days, f"{entry.added_at:%Y-%m-%d}", entry.find_note(record.feeds)


def print_record(record: "NetworkRecord", path: Path) -> None:
    """Print what a person has decided about a network, and where that is written."""
    console = new_console()
    console.print(f"[networks.{record.name}] in {path}", soft_wrap=True)
    for key, value in record.model_dump(exclude={"name"}, exclude_defaults=True, mode="json").items():
        console.print(f"  {key} = {json.dumps(value, ensure_ascii=False)}", soft_wrap=True)
