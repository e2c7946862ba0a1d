"""Compare single departures with nigiri: Helsinki as scheduled; Helsinki, and New York with 20,000 trips, in real time.

Both engines get the same levelled feed and the same bytes, in one process. Every answer is compared before a ratio is
printed: the transfers and arrivals of all best journeys must be equal. Messages cancel trips, or give one delay at all
stops, in whole minutes, so that the result does not depend on how an engine propagates delays. The engine that answers
first alternates from question to question. With ``--check 1``, only different answers count, on New York: 500 single
departures, 500 windows and 150 questions in real time.
"""

import importlib.util
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import date, timedelta
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from harness import HEAD, p95, read_options, report_pairs, timed_ms
from tests.raptor import levelled
from tests.raptor.rival import apply_live, load_rival
from tests.raptor.test_live_helsinki import draw_message, draw_questions, read_live, until
from tests.shared_data import find_shared

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable
from fingerpost.transit.engine.timetable.service_days import find_covered_days, find_service_day_start, find_services
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, STOP, Timetable

BOUND, SINGLE_BOUND, WINDOW_BOUND = 0.25, 0.55, 0.22
WINDOW_S = 7200
QUESTIONS = 300
SEED = 4
LIVE_TRIPS = 20_000
# New York's stops of one crossing; a larger distance would join whole avenues into one cluster.
LINK_M = 45.0
HOURS = 60


def measure(*, is_live: bool, count: int = QUESTIONS) -> bool:
    """Print the ratio for Helsinki's feed, or the reason why there is none."""
    feed = find_shared() / levelled.FEED
    if importlib.util.find_spec("pynigiri") is None or not feed.exists():
        print("\nBeside nigiri: not measured, it needs pynigiri and the recorded Helsinki feed.")
        return True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hsl.zip"
        timetable = levelled.level(feed, path)
        rival = load_rival(path)
    search_timetable, live = build_search_timetable(timetable, levelled.DAY, is_reverse=False, step_free=False), None
    if is_live:
        message = draw_message(timetable, SEED)
        search_timetable = read_live(timetable, message)
        live = apply_live(rival, levelled.DAY, message)
    print(f"\nBeside nigiri, in ms, {count} single departures each, all answers equal:\n{HEAD}")
    name = f"Helsinki, {f'{len(message.entity)} trips in real time' if is_live else 'by the timetable'}"
    return compare(name, timetable, search_timetable, rival, draw_questions(search_timetable, SEED, count), live=live)


def measure_new_york(count: int = QUESTIONS, *, is_live: bool = True) -> bool:
    """Print the ratios for New York's nine feeds; return whether they are within their bounds."""
    feeds = sorted((find_shared() / "gtfs" / "nyc").glob("*.zip"))
    if importlib.util.find_spec("pynigiri") is None or not feeds:
        print("skipped: needs pynigiri, and New York's feeds beside the project")
        return True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nyc.zip"
        timetable = level_new_york(feeds, path)
        day = busiest_day(timetable)
        rival = load_rival(path, since=f"{day - timedelta(days=1)}", until=f"{day + timedelta(days=2)}")
    midnight = find_service_day_start(day, timetable.feeds[0].zone)
    if not is_live:
        search_timetable = build_search_timetable(timetable, day, is_reverse=False, step_free=False)
        asked = rival, draw_questions(search_timetable, SEED, count)
        print(f"\nBeside nigiri, New York, {day}, in ms, {count} questions each, all answers equal:\n{HEAD}")
        kept = [
            compare(
                name, timetable, search_timetable, *asked, live=None, midnight=midnight, bound=bound, window_s=window
            )
            for name, window, bound in (("single departure", 0, SINGLE_BOUND), ("two hours", WINDOW_S, WINDOW_BOUND))
        ]
        return all(kept)
    message = draw_message(timetable, SEED, day, LIVE_TRIPS)
    search_timetable = read_live(timetable, message, day)
    questions = draw_questions(search_timetable, SEED, count)
    name = f"New York, {day}, {LIVE_TRIPS} trips in real time"
    live = apply_live(rival, day, message)
    return compare(name, timetable, search_timetable, rival, questions, live=live, midnight=midnight, bound=BOUND)


def compare(
    name, timetable, search_timetable, rival, questions, *, live, midnight=levelled.MIDNIGHT, bound=None, window_s=0
):
    """Print the median of the per-question ratios of our time to nigiri's.

    Raises:
        SystemExit: the answers differ.
    """
    ids = list(timetable.stop_local_id)
    locations = {stop: rival.find_location(ids[stop]) for question in questions for stop in question[:2]}
    ours = partial(levelled.ask_engine, timetable, search_timetable, midnight=midnight, window_s=window_s)
    theirs = partial(levelled.ask_rival, rival, locations, live=live, midnight=midnight, window_s=window_s)
    ours(*questions[0])
    took_ms = {ours: [], theirs: []}
    for number, question in enumerate(questions):
        answers = {}
        for query in (ours, theirs) if number % 2 else (theirs, ours):
            spent_ms, answer = timed_ms(query, *question)
            took_ms[query].append(spent_ms)
            answers[query] = until(answer)
        if window_s:
            end_s = question[2] + window_s
            answers = {query: list_within(answer, answers[ours], end_s) for query, answer in answers.items()}
        if answers[ours] != answers[theirs]:
            raise SystemExit(f"short: the answers differ: {question}: {answers[ours]}, nigiri {answers[theirs]}")
    ratios = [mine / its for mine, its in zip(took_ms[ours], took_ms[theirs], strict=True)]
    note = f"p95 of ratios {p95(ratios):.2f}"
    return report_pairs(name, took_ms[ours], took_ms[theirs], bound=bound, note=note)


def list_within(rows, ours, end_s):
    """Return the journeys that leave before the end of a window, unless one of ours that leaves later is as good."""
    later = [row for row in ours if row[2] >= end_s]
    return [row for row in rows if row[2] < end_s and not any(a <= row[0] and b <= row[1] for a, b, _ in later)]


def level_new_york(feeds: list[Path], path: Path) -> Timetable:
    """Write the levelled feed to a path, and return our timetable for it, in which all stops of a cluster are linked.

    nigiri does not walk from feed to feed, so the nine are merged first, as our importer merges them.
    """
    sources = [FeedSource(feed, feed.name.split(".")[0].upper()) for feed in feeds]
    write_levelled(import_feeds("NYC", sources).timetable, path)
    timetable = levelled.clustered(import_feeds("NYC", [FeedSource(path)]).timetable, LINK_M)
    with zipfile.ZipFile(path, "a") as out:
        levelled.write_transfers(timetable, out)
    return timetable


def write_levelled(timetable: Timetable, path: Path) -> None:
    """Write a feed that nigiri reads as we do: ids as names, no parents, whole minutes."""
    if len(timetable.trip_departure_trip) != len(timetable.trip_route) or timetable.trip_departure_shift_s.any():
        raise RuntimeError("New York has trips by frequency now: write them")
    zone = timetable.feeds[0].zone
    places = zip(timetable.stop_lat.tolist(), timetable.stop_lon.tolist(), timetable.stop_kind.tolist(), strict=True)
    trips = zip(timetable.trip_route.tolist(), timetable.trip_service.tolist(), strict=True)
    runs_on = zip(*(rows.tolist() for rows in np.nonzero(timetable.service_runs_on)), strict=True)
    tables = {
        "agency": ("agency_id,agency_name,agency_url,agency_timezone", [f"A,A,https://example.org,{zone}"]),
        "stops": (
            "stop_id,stop_name,stop_lat,stop_lon",
            (f"S{stop},S{stop},{lat:.6f},{lon:.6f}" for stop, (lat, lon, kind) in enumerate(places) if kind == STOP),
        ),
        "routes": (
            "route_id,agency_id,route_short_name,route_type",
            (f"R{row},A,{row},{kind}" for row, kind in enumerate(timetable.route_type.tolist())),
        ),
        "trips": (
            "route_id,service_id,trip_id",
            (f"R{route},D{service},T{trip}" for trip, (route, service) in enumerate(trips)),
        ),
        "calendar_dates": (
            "service_id,date,exception_type",
            (f"D{service},{timetable.calendar_start + timedelta(days=day):%Y%m%d},1" for service, day in runs_on),
        ),
        "stop_times": (
            "trip_id,arrival_time,departure_time,stop_id,stop_sequence,pickup_type,drop_off_type",
            _stop_times(timetable),
        ),
    }
    with zipfile.ZipFile(path, "w") as out:
        for name, (header, rows) in tables.items():
            with out.open(f"{name}.txt", "w", force_zip64=True) as table:
                for row in chain([header], rows):
                    table.write(f"{row}\n".encode())


def _stop_times(timetable: Timetable) -> Iterator[str]:
    clock = [f"{minute // 60:02}:{minute % 60:02}:00" for minute in range(HOURS * 60)]
    doors = [f"{bool(flags & NO_BOARDING):d},{bool(flags & NO_ALIGHTING):d}" for flags in range(4)]
    columns = (timetable.stop_time_arrival_s, timetable.stop_time_departure_s, timetable.stop_time_stop,
               timetable.stop_time_sequence, timetable.stop_time_flags)  # fmt: skip
    for trip, (first, last) in enumerate(pairwise(timetable.trip_first_stop_time.tolist())):
        for arrives_s, departs_s, stop, sequence, flags in zip(*(c[first:last].tolist() for c in columns), strict=True):
            yield f"T{trip},{clock[arrives_s // 60]},{clock[departs_s // 60]},S{stop},{sequence},{doors[flags & 3]}"


def busiest_day(timetable: Timetable) -> date:
    first, last = find_covered_days(timetable) or (date.min, date.min)
    days = [date.fromordinal(day) for day in range(first.toordinal(), last.toordinal() + 1)]
    return max(days, key=lambda day: int(find_services(timetable, day)[timetable.trip_service].sum()))


if __name__ == "__main__":
    if read_options(__doc__, check=0).check:
        measure_new_york(500, is_live=False)
        measure_new_york(150)
        sys.exit(0)
    sys.exit(0 if all([measure(is_live=True), measure_new_york()]) else 1)
