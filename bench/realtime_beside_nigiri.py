"""Questions under real time beside nigiri, which reads the same messages: Helsinki, and New York with 20,000 trips.

Both engines get the same levelled feed and the same bytes, in one process. Every answer is compared before a ratio is
printed: changes and arrivals of all best journeys must be equal. Every message tells every call, in whole minutes, so
that nothing hangs on how an engine carries delays. Questions alternate, and so does who is asked first.
"""

import importlib.util
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from beside_nigiri import _quiet_stderr
from figures import p50, percentile, verdict
from google.transit.gtfs_realtime_pb2 import FeedMessage
from levelled_new_york import level_new_york

from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable
from fingerpost.transit.engine.timetable.service_days import find_covered_days, service_day_start, services_on
from fingerpost.transit.engine.timetable.timetable import Timetable

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
BOUND = 0.25
QUESTIONS = 300
SEED = 4
LAST_ARRIVAL_S = 32 * 3600

Answer = list[tuple[int, int]]


LIVE_TRIPS = 20_000


def busiest_day(timetable: Timetable) -> date:
    """Return the day on which most trips run."""
    first, last = find_covered_days(timetable) or (date.min, date.min)
    days = [date.fromordinal(day) for day in range(first.toordinal(), last.toordinal() + 1)]
    return max(days, key=lambda day: int(services_on(timetable, day)[timetable.trip_service].sum()))


def write_all_calls(timetable: Timetable, day: date, count: int, dice: random.Random) -> FeedMessage:
    """Return delays at every call of trips that run on a day: one up to the middle, another from there on.

    A vehicle whose delay falls makes it up as fast as time allows: no call is before the one ahead of it.
    """
    message = FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    start = service_day_start(day, timetable.feeds[0].zone)
    message.header.timestamp = start + 8 * 3600
    running = np.flatnonzero(services_on(timetable, day)[timetable.trip_service]).tolist()
    for trip in dice.sample(running, min(count, len(running))):
        update = message.entity.add(id=str(trip)).trip_update
        update.trip.trip_id, update.trip.start_date = timetable.trip_local_id[trip], f"{day:%Y%m%d}"
        rows = range(int(timetable.trip_first_stop_time[trip]), int(timetable.trip_first_stop_time[trip + 1]))
        late_s = [60 * dice.choice([0, 1, 2, 4, 8]) for _ in range(2)]
        latest = 0
        for index, event in enumerate(rows):
            call = update.stop_time_update.add(stop_sequence=int(timetable.stop_time_sequence[event]))
            call.stop_id = timetable.stop_local_id[int(timetable.stop_time_stop[event])]
            for told, planned_s in (
                (call.arrival, timetable.stop_time_arrival_s[event]),
                (call.departure, timetable.stop_time_departure_s[event]),
            ):
                latest = max(latest, int(planned_s) + late_s[2 * index >= len(rows)])
                told.time = start + latest
    return message


def compare(
    questions: Sequence[tuple[int, int, int]], ours: Callable[..., Answer], theirs: Callable[..., Answer]
) -> list[float]:
    """Return the ratio of our time to theirs for every question.

    Raises:
        SystemExit: an answer differs.
    """
    ratios = []
    for number, question in enumerate(questions):
        seconds: dict[Callable[..., Answer], float] = {}
        answers = {}
        for query in (ours, theirs) if number % 2 else (theirs, ours):
            begin = time.perf_counter()
            answers[query] = query(*question)
            seconds[query] = time.perf_counter() - begin
        kept = [[row for row in answers[query] if row[1] <= LAST_ARRIVAL_S] for query in (ours, theirs)]
        if kept[0] != kept[1]:
            raise SystemExit(f"short: the answers differ: {question}: {kept[0]}, nigiri {kept[1]}")
        ratios.append(seconds[ours] / seconds[theirs])
    return ratios


def apply_live(rival: Any, day: date, message: FeedMessage) -> Any:
    """Return nigiri's real time of a day with a message applied to all of its trips."""
    import pynigiri as nigiri

    live = nigiri.create_rt_timetable(rival, datetime(day.year, day.month, day.day))
    done = nigiri.gtfsrt_update_from_bytes(rival, live, nigiri.SourceIdx(0), "gtfs", message.SerializeToString())
    if done.total_entities_success != len(message.entity):
        raise SystemExit(f"short: nigiri took {done.total_entities_success} of {len(message.entity)} updates")
    return live


def new_york() -> bool:
    """Print the ratio of question times; return whether it is within its bound."""
    from tests.raptor import levelled

    feeds = sorted((DATA / "gtfs" / "nyc").glob("*.zip"))
    if not feeds:
        print("skipped: needs New York's feeds beside the project")
        return True
    with tempfile.TemporaryDirectory() as folder, _quiet_stderr():
        path = Path(folder) / "nyc.zip"
        timetable = level_new_york(feeds, path)
        day = busiest_day(timetable)
        rival = levelled.load_rival(path, f"{day - timedelta(days=1)}", f"{day + timedelta(days=2)}")
    dice = random.Random(SEED)
    message = write_all_calls(timetable, day, LIVE_TRIPS, dice)
    now = message.header.timestamp
    overlay = read_realtime(timetable, RealtimeIndex(timetable), [FeedBytes(message.SerializeToString(), now)], now)
    search_timetable = build_search_timetable(timetable, day, mirrored=False, step_free=False, overlay=overlay)
    planned = build_search_timetable(timetable, day, mirrored=False, step_free=False)
    live = apply_live(rival, day, message)
    served = np.unique(search_timetable.patterns.position_stop).tolist()
    questions = [(*dice.sample(served, 2), dice.randrange(6 * 3600, 22 * 3600, 60)) for _ in range(QUESTIONS)]
    ids = list(timetable.stop_local_id)
    locations = {stop: rival.find_location(ids[stop]) for question in questions for stop in question[:2]}
    midnight = service_day_start(day, timetable.feeds[0].zone)

    def ours(*question: int) -> Answer:
        return levelled.ask_engine(timetable, search_timetable, *question, midnight=midnight)

    def theirs(*question: int) -> Answer:
        return levelled.ask_rival(rival, locations, *question, live=live, midnight=midnight)

    ours(*questions[0])
    ratios = compare(questions, ours, theirs)
    changed = sum(
        ours(*question) != levelled.ask_engine(timetable, planned, *question, midnight=midnight)
        for question in questions
    )
    ratio = p50(ratios)
    print(
        f"New York, {day}, {len(overlay.rides)} trips in real time, {QUESTIONS} single departures beside nigiri with "
        f"the same message, all answers equal, {changed} others than by the timetable: {ratio:.2f} times as long "
        f"(p95 of ratios {percentile(ratios, 0.95):.2f}; at most {BOUND}) {verdict(ratio, BOUND)}"
    )
    return ratio <= BOUND


def helsinki() -> bool:
    """Print the ratio of our question times to nigiri's, both with the same message."""
    from tests.raptor import levelled, test_live_helsinki

    feed = DATA / levelled.FEED
    if not feed.exists():
        print("skipped: needs Helsinki's feed beside the project")
        return True
    with tempfile.TemporaryDirectory() as folder, _quiet_stderr():
        path = Path(folder) / "hsl.zip"
        timetable = levelled.level(feed, path)
        rival = levelled.load_rival(path)
    message = test_live_helsinki.draw_message(timetable, SEED)
    search_timetable = test_live_helsinki.read_live((None, timetable, RealtimeIndex(timetable)), message)
    live = apply_live(rival, levelled.DAY, message)
    questions = test_live_helsinki.draw_questions(search_timetable, SEED, QUESTIONS)
    ids = list(timetable.stop_local_id)
    locations = {stop: rival.find_location(ids[stop]) for question in questions for stop in question[:2]}
    ratios = compare(
        questions,
        lambda *question: levelled.ask_engine(timetable, search_timetable, *question),
        lambda *question: levelled.ask_rival(rival, locations, *question, live=live),
    )
    print(
        f"Helsinki, {len(message.entity)} trips in real time, {QUESTIONS} single departures beside nigiri with the "
        f"same message, all answers equal: {p50(ratios):.2f} times as long (no bound) ok"
    )
    return True


def main() -> int:
    """Measure both; return the exit status."""
    sys.path.insert(0, str(ROOT))
    if importlib.util.find_spec("pynigiri") is None:
        print("skipped: needs pynigiri")
        return 0
    return 0 if all([helsinki(), new_york()]) else 1


if __name__ == "__main__":
    sys.exit(main())
