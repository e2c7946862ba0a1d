"""Print networks and their records."""

import json
from pathlib import Path

from fingerpost import clock
from fingerpost.apps.cli.output import print_line
from fingerpost.apps.overview import find_report
from fingerpost.apps.source_kinds import EMBEDDED
from fingerpost.errors import ToolError
from fingerpost.store.network_records import NetworkRecord, NetworkRecords
from fingerpost.transit.engine.demo.catalogue import list_demo_names
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.model.provenance import ServiceState
from fingerpost.transit.networks.composite import DemoMode, do_demos_answer


def print_networks(records: NetworkRecords, store: TimetableStore, *, demo_mode: str) -> None:
    notes: list[str] = []
    prepared = store.list_names()
    for name, record in sorted(records.records.items()):
        (first, *feeds), note = _describe(record, store, is_prepared=name in prepared)
        _print_columns(name, *first, record.source)
        for feed in feeds:
            _print_columns(*feed, indent="  ")
        notes += [note] if note else []
        notes += [f"Real time of {name}: {text}" for text in record.realtime]
    for name in list_demo_names():
        _print_columns(name, "any day", "in service", "built in", "demo")
    has_networks = bool(records.records or records.problems)
    notes.insert(
        0, _format_demos(answer=do_demos_answer(DemoMode(demo_mode), has_networks=has_networks), mode=demo_mode)
    )
    for name, problem in records.problems.items():
        notes.append(f"{name} cannot be used: {problem}.")
    for name in prepared:
        if name not in records.records and name not in records.problems:
            notes.append(
                f"{name} was prepared, but has no record and does not answer: its `network add` was interrupted. "
                f"Add it again, or run `fingerpost network remove {name}`."
            )
    for note in notes:
        print_line(note)


def _print_columns(name: str, *columns: str, indent: str = "") -> None:
    print_line(indent + "  ".join((f"{name:<13}", *columns)))


def _format_demos(*, answer: bool, mode: str) -> str:
    if answer:
        until = "until a network is added" if mode == "auto" else "because FINGERPOST_DEMO is on"
        return f"Demo networks answer, {until}."
    why = "a network was added" if mode == "auto" else "FINGERPOST_DEMO is off"
    return f"Demo networks answer for their own stop ids only, because {why}."


def _describe(record: NetworkRecord, store: TimetableStore, *, is_prepared: bool) -> tuple[list[list[str]], str | None]:
    """Return the columns of a network, and those of each of its feeds if it has several; and a note on both."""
    if record.source != EMBEDDED:
        return [["asks its source"]], None
    if not is_prepared:
        note = f"Nothing is prepared of {record.name}. Run `fingerpost network refresh {record.name}`."
        return [["not prepared"]], note
    report = find_report(store, record.name)
    rows = [["its import report cannot be read"]] if report is None else _describe_days(report)
    try:
        entry = store.get(record.name)
    except ToolError:
        rows[0].append("unreadable; add it again")
        return rows, None
    rows[0].append(f"{entry.added_at:%Y-%m-%d}")
    return rows, entry.find_note(record.feeds, record.extract) or entry.find_age_note()


def _describe_days(report: ImportReport) -> list[list[str]]:
    today = clock.today_in(report.feeds[0].zone)
    states = [feed.service.state_on(today) for feed in report.feeds]
    if len(states) == 1:
        return [[report.days, states[0].value]]
    running = f"{states.count(ServiceState.IN_SERVICE)} of {len(states)} feeds"
    feeds = zip(report.feeds, states, strict=True)
    return [
        [report.days, running],
        *([feed.feed, f"{feed.first_day} to {feed.last_day}", state.value] for feed, state in feeds),
    ]


def print_record(record: NetworkRecord, path: Path) -> None:
    print_line(f"{record.name} in {path}")
    for key, value in record.model_dump(exclude={"name"}, exclude_defaults=True, mode="json").items():
        print_line(f"  {key} = {json.dumps(value, ensure_ascii=False)}")


def print_learned(record: NetworkRecord, profiles: LearnedProfiles) -> None:
    learned = profiles.find(record)
    if learned is None:
        print_line(f"Its source was not asked yet. Run `fingerpost network refresh {record.name}`.")
        return
    box = learned.bounds
    told = {
        "bounds": None if box is None else [box.south, box.west, box.north, box.east],
        "zone": learned.zone,
        "languages": list(learned.languages),
        "feeds": [feed.name for feed in learned.feeds],
        "modes": sorted(learned.modes),
        "attribution": list(learned.attribution),
        "first day": learned.first_day and learned.first_day.isoformat(),
        "last day": learned.last_day and learned.last_day.isoformat(),
        "traits": dict(learned.traits),
    }
    print_line(f"Learned from its source on {learned.learned_at:%Y-%m-%d %H:%M}:")
    for key, value in told.items():
        if value:
            print_line(f"  {key} = {json.dumps(value, ensure_ascii=False)}")
