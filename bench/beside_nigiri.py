"""Compare single departures with nigiri: Helsinki as scheduled; Helsinki, and New York with 20,000 trips, in real time.

Both engines get the same levelled feed and the same bytes, in one process. Every answer is compared before a ratio is
printed: the transfers and arrivals of all best journeys must be equal. Every message gives the delay at every stop, in
whole minutes, so that the result does not depend on how an engine propagates delays. The engine that answers first
alternates from question to question.
"""

import importlib.util
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
from google.transit.gtfs_realtime_pb2 import FeedMessage
from harness import HEAD, p95, report_pairs, timed_ms

from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable
from fingerpost.transit.engine.timetable.service_days import find_covered_days, find_service_day_start, find_services
from fingerpost.transit.engine.timetable.timetable import Timetable

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.levelled_new_york import level_new_york
from tests.raptor import levelled
from tests.raptor.rival import load_rival
from tests.raptor.test_live_helsinki import draw_message, draw_questions, read_live, until

DATA = Path(os.environ.get("FINGERPOST_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
BOUND = 0.25
QUESTIONS = 300
SEED = 4
LIVE_TRIPS = 20_000


def measure(*, is_live: bool, count: int = QUESTIONS) -> bool:
    """Print the ratio for Helsinki's feed, or the reason why there is none."""
    feed = DATA / levelled.FEED
    if importlib.util.find_spec("pynigiri") is None or not feed.exists():
        print("\nBeside nigiri: not measured, it needs pynigiri and the recorded Helsinki feed.")
        return True
    with tempfile.TemporaryDirectory() as folder, _quiet_stderr():
        path = Path(folder) / "hsl.zip"
        timetable = levelled.level(feed, path)
        rival = load_rival(path)
    search_timetable, live = build_search_timetable(timetable, levelled.DAY, is_reverse=False, step_free=False), None
    if is_live:
        message = draw_message(timetable, SEED)
        search_timetable = read_live((None, timetable, RealtimeIndex(timetable)), message)
        live = apply_live(rival, levelled.DAY, message)
    print(f"\nBeside nigiri, in ms, {count} single departures each, all answers equal:\n{HEAD}")
    name = f"Helsinki, {f'{len(message.entity)} trips in real time' if is_live else 'by the timetable'}"
    return compare(name, timetable, search_timetable, rival, draw_questions(search_timetable, SEED, count), live=live)


def measure_new_york() -> bool:
    """Print the ratio for New York's nine feeds in real time; return whether it is within its bound."""
    feeds = sorted((DATA / "gtfs" / "nyc").glob("*.zip"))
    if importlib.util.find_spec("pynigiri") is None or not feeds:
        print("skipped: needs pynigiri, and New York's feeds beside the project")
        return True
    with tempfile.TemporaryDirectory() as folder, _quiet_stderr():
        path = Path(folder) / "nyc.zip"
        timetable = level_new_york(feeds, path)
        day = busiest_day(timetable)
        rival = load_rival(path, since=f"{day - timedelta(days=1)}", until=f"{day + timedelta(days=2)}")
    message = write_all_calls(timetable, day, LIVE_TRIPS, random.Random(SEED))
    now = message.header.timestamp
    overlay = read_realtime(timetable, RealtimeIndex(timetable), [FeedBytes(message.SerializeToString(), now)], now)
    search_timetable = build_search_timetable(timetable, day, is_reverse=False, step_free=False, overlay=overlay)
    questions = draw_questions(search_timetable, SEED, QUESTIONS)
    midnight = find_service_day_start(day, timetable.feeds[0].zone)
    name = f"New York, {day}, {len(overlay.rides)} trips in real time"
    live = apply_live(rival, day, message)
    return compare(name, timetable, search_timetable, rival, questions, live=live, midnight=midnight, bound=BOUND)


def compare(name, timetable, search_timetable, rival, questions, *, live, midnight=levelled.MIDNIGHT, bound=None):
    """Print the median of the per-question ratios of our time to nigiri's.

    Raises:
        SystemExit: the answers differ.
    """
    ids = list(timetable.stop_local_id)
    locations = {stop: rival.find_location(ids[stop]) for question in questions for stop in question[:2]}
    ours = partial(levelled.ask_engine, timetable, search_timetable, midnight=midnight)
    theirs = partial(levelled.ask_rival, rival, locations, live=live, midnight=midnight)
    ours(*questions[0])
    took_ms = {ours: [], theirs: []}
    for number, question in enumerate(questions):
        answers = {}
        for query in (ours, theirs) if number % 2 else (theirs, ours):
            spent_ms, answer = timed_ms(query, *question)
            took_ms[query].append(spent_ms)
            answers[query] = until(answer)
        if answers[ours] != answers[theirs]:
            raise SystemExit(f"short: the answers differ: {question}: {answers[ours]}, nigiri {answers[theirs]}")
    ratios = [mine / its for mine, its in zip(took_ms[ours], took_ms[theirs], strict=True)]
    note = f"p95 of ratios {p95(ratios):.2f}"
    return report_pairs(name, took_ms[ours], took_ms[theirs], bound=bound, note=note)


def busiest_day(timetable: Timetable) -> date:
    first, last = find_covered_days(timetable) or (date.min, date.min)
    days = [date.fromordinal(day) for day in range(first.toordinal(), last.toordinal() + 1)]
    return max(days, key=lambda day: int(find_services(timetable, day)[timetable.trip_service].sum()))


def write_all_calls(timetable: Timetable, day: date, count: int, dice: random.Random) -> FeedMessage:
    """Return delays at every stop of the trips on a day: one delay up to the middle, another from there on.

    If the delay decreases, the vehicle catches up as fast as possible: no stop time is earlier than the previous one.
    """
    message = FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    start = find_service_day_start(day, timetable.feeds[0].zone)
    message.header.timestamp = start + 8 * 3600
    running = np.flatnonzero(find_services(timetable, day)[timetable.trip_service]).tolist()
    for trip in dice.sample(running, min(count, len(running))):
        update = message.entity.add(id=str(trip)).trip_update
        update.trip.trip_id, update.trip.start_date = timetable.trip_local_id[trip], f"{day:%Y%m%d}"
        rows = range(int(timetable.trip_first_stop_time[trip]), int(timetable.trip_first_stop_time[trip + 1]))
        late_s = [60 * dice.choice([0, 1, 2, 4, 8]) for _ in range(2)]
        latest = 0
        for index, row in enumerate(rows):
            call = update.stop_time_update.add(stop_sequence=int(timetable.stop_time_sequence[row]))
            call.stop_id = timetable.stop_local_id[int(timetable.stop_time_stop[row])]
            for time, planned_s in (
                (call.arrival, timetable.stop_time_arrival_s[row]),
                (call.departure, timetable.stop_time_departure_s[row]),
            ):
                latest = max(latest, int(planned_s) + late_s[2 * index >= len(rows)])
                time.time = start + latest
    return message


def apply_live(rival, day: date, message: FeedMessage):
    """Return nigiri's realtime timetable for a day, with a message applied to all of the day's trips."""
    import pynigiri as nigiri

    live = nigiri.create_rt_timetable(rival, datetime(day.year, day.month, day.day))
    done = nigiri.gtfsrt_update_from_bytes(rival, live, nigiri.SourceIdx(0), "gtfs", message.SerializeToString())
    if done.total_entities_success != len(message.entity):
        raise SystemExit(f"short: nigiri took {done.total_entities_success} of {len(message.entity)} updates")
    return live


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Keep the loader's log off the terminal; it bypasses Python and cannot be disabled."""
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


if __name__ == "__main__":
    sys.exit(0 if all([measure(is_live=True), measure_new_york()]) else 1)
