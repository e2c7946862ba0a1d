"""Questions under real time: beside the same without it, and while snapshots are swapped.

New York is asked with and without 20,000 trips in real time, forward slices, by turns. Kingston is asked while a thread
publishes snapshot after snapshot, beside the same questions when none is published.
"""

import asyncio
import random
import sys
import threading
import time
from datetime import date
from pathlib import Path

import numpy as np
from figures import p50, percentile, verdict
from google.transit.gtfs_realtime_pb2 import FeedMessage

from fingerpost.apps.interpreter import take_short_turns
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.raptor.endpoints import find_endpoint
from fingerpost.transit.engine.raptor.search import SearchQuery, find_journeys
from fingerpost.transit.engine.raptor.search_timetable.cache import SearchTimetables
from fingerpost.transit.engine.timetable.service_days import find_covered_days, service_day_start, services_on
from fingerpost.transit.engine.timetable.timetable import STOP, Timetable
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.port import JourneyQuery

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "gtfs"
LIVE_TRIPS = 20_000
LIVE_BOUND, SWAP_BOUND = 1.2, 1.5
QUESTIONS, SWAP_QUESTIONS, SWAP_EVERY_S = 200, 2_000, 1.0
SEED = 4


def busiest_day(timetable: Timetable) -> date:
    """Return the day on which most trips run."""
    first, last = find_covered_days(timetable) or (date.min, date.min)
    days = [date.fromordinal(day) for day in range(first.toordinal(), last.toordinal() + 1)]
    return max(days, key=lambda each: int(services_on(timetable, each)[timetable.trip_service].sum()))


def write_delays(timetable: Timetable, day: date, count: int, dice: random.Random) -> FeedMessage:
    """Return delays of trips that run on a day: one from the first call on, another from the middle."""
    message = FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    message.header.timestamp = service_day_start(day, timetable.feeds[0].zone) + 8 * 3600
    once = np.bincount(timetable.trip_departure_trip, minlength=len(timetable.trip_local_id)) == 1
    running = np.flatnonzero(once & (services_on(timetable, day)[timetable.trip_service] != 0)).tolist()
    for trip in dice.sample(running, min(count, len(running))):
        update = message.entity.add(id=str(trip)).trip_update
        update.trip.trip_id, update.trip.start_date = timetable.trip_local_id[trip], f"{day:%Y%m%d}"
        begin, end = int(timetable.trip_first_stop_time[trip]), int(timetable.trip_first_stop_time[trip + 1])
        for event in (begin, (begin + end) // 2):
            call = update.stop_time_update.add(stop_sequence=int(timetable.stop_time_sequence[event]))
            call.arrival.delay = call.departure.delay = 60 * dice.choice([0, 1, 2, 4, 8])
    return message


def new_york() -> bool:
    """Print the ratio of question times with and without real time; return whether it is within its bound."""
    feeds = sorted((DATA / "nyc").glob("*.zip"))
    if not feeds:
        print("skipped: needs New York's feeds beside the project")
        return True
    timetable = import_feeds("NYC", [FeedSource(path, path.name.split(".")[0].upper()) for path in feeds]).timetable
    day = busiest_day(timetable)
    dice = random.Random(SEED)
    message = write_delays(timetable, day, LIVE_TRIPS, dice)
    now = message.header.timestamp
    overlay = read_realtime(timetable, RealtimeIndex(timetable), [FeedBytes(message.SerializeToString(), now)], now)
    planned, live = SearchTimetables(timetable), SearchTimetables(timetable, overlay)
    for search_timetables in (planned, live):
        search_timetables.get_search_timetable(day, mirrored=False, step_free=False)
    served = np.flatnonzero(timetable.stop_kind == STOP).tolist()
    ratios = []
    for _ in range(QUESTIONS):
        ends = [
            find_endpoint(timetable, float(timetable.stop_lat[stop]), float(timetable.stop_lon[stop]), [stop], 1000)
            for stop in dice.sample(served, 2)
        ]
        query = SearchQuery(
            origin=ends[0], destination=ends[1], instant=now + dice.randrange(0, 10 * 3600), arrive_by=False,
            max_rides=5, max_walk_m=1500, step_free=False, wanted=3,
        )  # fmt: skip
        seconds = []
        for search_timetables in (planned, live, planned, live):
            begin = time.perf_counter()
            find_journeys(timetable, search_timetables, query)
            seconds.append(time.perf_counter() - begin)
        ratios.append(min(seconds[1::2]) / min(seconds[0::2]))
    ratio = p50(ratios)
    print(
        f"New York, {day}, {len(overlay.rides)} trips in real time: questions take {ratio:.2f} times as long "
        f"(at most {LIVE_BOUND}) {verdict(ratio, LIVE_BOUND)}"
    )
    return ratio <= LIVE_BOUND


def kingston() -> bool:
    """Print the ratio of the slowest hundredth of questions while swapping to the same when idle."""
    import realtime

    if not realtime.KINGSTON.exists():
        print("skipped: needs Kingston's timetable beside the project")
        return True
    timetable = import_feeds("KINGSTON", [FeedSource(realtime.KINGSTON)]).timetable
    network, index = EmbeddedNetwork(NetworkRecord(name="KINGSTON"), timetable), RealtimeIndex(timetable)
    now = service_day_start(realtime.DAY, network.profile.zone) + 12 * 3600
    data = realtime.write_message(timetable, now)
    dice = random.Random(SEED)
    served = np.flatnonzero(timetable.stop_kind == STOP).tolist()

    def end() -> Location:
        stop = dice.choice(served)
        place = Coordinate(float(timetable.stop_lat[stop]), float(timetable.stop_lon[stop]))
        return Location(coordinate=place, source=LocationSource.INPUT)

    # Few questions take most of the time, so both rounds ask the same.
    questions = [JourneyQuery(origin=end(), destination=end(), instant=now) for _ in range(SWAP_QUESTIONS)]

    def swap() -> None:
        network.publish(read_realtime(timetable, index, [FeedBytes(data, now)], now), realtime.DAY)

    def ask_all(asked: list[JourneyQuery]) -> list[float]:
        async def ask() -> list[float]:
            times = []
            for question in asked:
                begin = time.perf_counter()
                await network.plan_journeys(question)
                times.append(time.perf_counter() - begin)
            return times

        return asyncio.run(ask())

    take_short_turns()  # as ``fingerpost serve`` does
    swap()
    ask_all(questions[:100])
    idle = ask_all(questions)
    stop, swaps = threading.Event(), 0

    def keep_swapping() -> None:
        nonlocal swaps
        while not stop.wait(SWAP_EVERY_S):
            swap()
            swaps += 1

    thread = threading.Thread(target=keep_swapping)
    thread.start()
    busy = ask_all(questions)
    stop.set()
    thread.join()
    ratio = percentile(busy, 0.99) / percentile(idle, 0.99)
    print(
        f"Kingston, {swaps} swaps of {realtime.UPDATES} updates, one a second: p99 of questions {ratio:.2f} times idle "
        f"(at most {SWAP_BOUND}) {verdict(ratio, SWAP_BOUND)}"
    )
    return ratio <= SWAP_BOUND


def main() -> int:
    """Measure both; return the exit status."""
    return 0 if all([kingston(), new_york()]) else 1


if __name__ == "__main__":
    sys.exit(main())
