"""Measure the embedded engine on networks of different sizes: ``make bench-scale``.

The country consists of five copies of New York, 0.9 degrees of longitude apart, with a train between neighbours every
quarter of an hour. Each network is imported by one process and answers questions in another, so memory is that of the
network. Times are processor time, except for the questions per second.
"""

import asyncio
import csv
import io
import json
import math
import random
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from harness import p50, p95, read_options, run_json
from import_feeds import FEEDS
from serving import compile_kernels
from tests.shared_data import get_shared

CITIES, SHIFT_DEG, HUB = 5, 0.9, (40.7506, -73.9935)
LINK_DAYS, LINK_EVERY_S, LINK_TAKES_S = ("20260901", "20261231"), 900, 3600
NEAR_DEG = 0.003
COLUMNS = (
    "network | stops | import s | import MB | memory MB | first s | answered % | p50 ms | p95 ms | 1 thread | 2 threads"
)


def shift(feed: Path, copy: int, folder: Path) -> Path:
    """Write a copy of a feed further east."""
    shifted = folder / f"C{copy}{feed.stem[:20].upper()}.zip"
    with zipfile.ZipFile(feed) as source, zipfile.ZipFile(shifted, "w") as target:
        for name in source.namelist():
            lon = {"stops.txt": "stop_lon", "shapes.txt": "shape_pt_lon"}.get(name)
            data = source.read(name)
            if lon is not None:
                head, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
                column, text = head.index(lon), io.StringIO(newline="")
                moved = ([*row[:column], f"{float(row[column]) + copy * SHIFT_DEG:.6f}", *row[column + 1 :]]
                         for row in rows if row and row[column])  # fmt: skip
                csv.writer(text).writerows([head, *moved])
                data = text.getvalue().encode()
            target.writestr(name, data)
    return shifted


def link(folder: Path) -> Path:
    """Write a feed of trains that call at the hub of each city, in both directions."""
    stops = [f"H{copy},Hub {copy},{HUB[0]},{HUB[1] + copy * SHIFT_DEG}" for copy in range(CITIES)]
    trips, calls = [], []
    for start_s in range(5 * 3600, 24 * 3600, LINK_EVERY_S):
        for order in (range(CITIES), range(CITIES)[::-1]):
            trips.append(f"R,D,T{len(trips)}")
            for row, copy in enumerate(order):
                at_s = start_s + row * LINK_TAKES_S
                clock = f"{at_s // 3600:02d}:{at_s % 3600 // 60:02d}:00"
                calls.append(f"T{len(trips) - 1},{clock},{clock},H{copy},{row}")
    tables = {
        "agency": ["agency_id,agency_name,agency_url,agency_timezone", "A,Trains,https://example.org,America/New_York"],
        "stops": ["stop_id,stop_name,stop_lat,stop_lon", *stops],
        "routes": ["route_id,agency_id,route_short_name,route_type", "R,A,Link,2"],
        "calendar": ["service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date",
                     f"D,1,1,1,1,1,1,1,{','.join(LINK_DAYS)}"],
        "trips": ["route_id,service_id,trip_id", *trips],
        "stop_times": ["trip_id,arrival_time,departure_time,stop_id,stop_sequence", *calls],
    }  # fmt: skip
    with zipfile.ZipFile(folder / "LINK.zip", "w") as target:
        for name, lines in tables.items():
            target.writestr(f"{name}.txt", "\n".join(lines))
    return folder / "LINK.zip"


def list_positions(feeds: Iterable[Path]) -> Iterator[tuple[float, float]]:
    for feed in feeds:
        with zipfile.ZipFile(feed) as source, source.open("stops.txt") as table:
            for stop in csv.DictReader(io.TextIOWrapper(table, "utf-8-sig")):
                if stop.get("location_type", "") in ("", "0") and stop["stop_lat"]:
                    yield float(stop["stop_lat"]), float(stop["stop_lon"])


def draw(feeds: list[Path], day: str, count: int, shift_deg: float = 0.0) -> list[dict]:
    """Return questions between positions near random stops; the destination is ``shift_deg`` further east."""
    dice, positions = random.Random(35), list(list_positions(feeds))

    def draw_end(east_deg: float) -> dict:
        lat, lon = (value + dice.uniform(-NEAR_DEG, NEAR_DEG) for value in dice.choice(positions))
        return {"type": "coords", "value": {"lat": lat, "lon": lon + east_deg}}

    times = [datetime.fromisoformat(day) + timedelta(minutes=dice.randrange(900)) for _ in range(count)]
    return [{"origin": draw_end(0.0), "destination": draw_end(shift_deg),
             "when": {"type": "depart", "time": f"{when:%Y-%m-%dT%H:%M:%S}"}} for when in times]  # fmt: skip


async def answer_questions(questions: list[dict]) -> dict:
    """Ask all questions alone, then with one and two callers at once; a large network searches in threads."""
    from fingerpost import Fingerpost

    async with Fingerpost() as library:
        spent_ms, answered = [], 0
        for question in questions:
            began = time.process_time()
            answered += not (await library.answer("plan_trip", question)).is_error
            spent_ms.append((time.process_time() - began) * 1000)

        async def drain(remaining: Iterator[dict]) -> None:
            for question in remaining:
                await library.answer("plan_trip", question)

        found = {"answered": 100 * answered / len(questions), "first": spent_ms[0] / 1000}
        found |= {"p50": p50(spent_ms[1:]), "p95": p95(spent_ms[1:])}
        for callers, key in ((1, "one"), (2, "two")):
            began, remaining = time.perf_counter(), iter(questions[1:])
            await asyncio.gather(*(drain(remaining) for _ in range(callers)))
            found[key] = (len(questions) - 1) / (time.perf_counter() - began)
    return found


def add_network(feeds: list[str]) -> None:
    from fingerpost.apps.cli import main as run_command

    sys.argv = ["fingerpost", "network", "add", "SCALE", *feeds]
    try:
        run_command()
    except SystemExit as ended:
        if ended.code:
            raise


def run_task(path: Path) -> dict:
    """Run the task in a file; return its figures, with the processor time and the peak memory of this process."""
    task, found = json.loads(path.read_text()), {}
    if "feeds" in task:
        add_network(task["feeds"])
    else:
        found = asyncio.run(answer_questions(task["questions"]))
    peak_kib = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
    return {**found, "cpu_s": time.process_time(), "mb": peak_kib * 1024 / 1e6}


def measure(name: str, feeds: list[Path], questions: dict[str, list[dict]], day: str) -> dict[str, float]:
    """Print a row for each kind of questions; return the figures to plot, those of the first kind."""
    stops, plotted = len(list(list_positions(feeds))), {}
    with tempfile.TemporaryDirectory() as folder:

        def run(**task: object) -> dict:
            path = Path(folder, "task.json")
            path.write_text(json.dumps(task, default=str))
            where = {"FINGERPOST_HOME": f"{folder}/home", "FINGERPOST_NOW": f"{day}-04:00"}
            return run_json(sys.executable, __file__, "--task", path, **where)

        added = run(feeds=feeds)
        for kind, asked in questions.items():
            found = run(questions=asked)
            first, *rest = (found[key] for key in ("first", "answered", "p50", "p95", "one", "two"))
            cells = f"{stops:,}", f"{added['cpu_s']:.0f}", f"{added['mb']:,.0f}", f"{found['mb']:,.0f}", f"{first:.1f}"
            print(f"| {' | '.join([name + kind, *cells, *(f'{value:.0f}' for value in rest)])} |", flush=True)
            plotted = plotted or {"stops": stops, "memory, MB": found["mb"], "median trip, ms": found["p50"]}
    return plotted


def plot(rows: list[dict[str, float]]) -> str:
    """Return an SVG image with a line per figure over the number of stops; both axes are logarithmic."""

    def place(x: float, y: float) -> tuple[int, int]:
        return round(60 + 180 * (math.log10(x) - 3)), round(252 - 60 * math.log10(y))

    left, right, ticks = *(place(x, 1)[0] for x in (1e3, 1e5)), []
    for power in range(5):
        y = place(1e3, 10**power)[1]
        ticks.append(f'<path d="M{left} {y}H{right}"/><text x="8" y="{y + 4}">{10**power:,}</text>')
    for stops in (1_000, 10_000, 100_000):
        ticks.append(f'<text x="{place(stops, 1)[0] - 20}" y="272">{stops:,}</text>')
    for name in list(rows[0])[1:]:
        points = [place(row["stops"], row[name]) for row in rows]
        ticks.append(f'<polyline points="{" ".join(f"{x},{y}" for x, y in points)}"/>')
        ticks.append(f'<text x="{points[-1][0] + 8}" y="{points[-1][1] + 4}">{name}</text>')
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 540 300" width="540" height="300" role="img">\n'
        "<title>Memory and time of a trip over the number of stops</title>\n"
        "<style>text{font:13px system-ui,sans-serif;fill:#1b1f24}path{stroke:#8c959f;stroke-width:.5}"
        "polyline{stroke:#0969da;stroke-width:2;fill:none}.bg{fill:#fff}\n"
        "@media (prefers-color-scheme:dark){text{fill:#e6edf3}polyline{stroke:#58a6ff}.bg{fill:#0d1117}}</style>\n"
        '<rect class="bg" width="540" height="300" rx="8"/>\n' + "\n".join(ticks)
        + f'\n<text x="{left}" y="290">stops (both axes are logarithmic)</text>\n</svg>\n'
    )  # fmt: skip


def main() -> None:
    options = read_options(__doc__, questions=200, task="", plot="")
    if options.task:
        print(json.dumps(run_task(Path(options.task))))
        return
    compile_kernels()
    print(f"| {COLUMNS} |")
    helsinki, day = [get_shared("gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip")], "2022-02-22T06:00:00"
    rows = [measure("Helsinki's center", helsinki, {"": draw(helsinki, day, options.questions)}, day)]
    day = "2026-09-30T06:00:00"
    rows.append(measure("New York", FEEDS, {"": draw(FEEDS, day, options.questions)}, day))
    with tempfile.TemporaryDirectory() as folder:
        feeds = [shift(feed, copy, Path(folder)) for copy in range(CITIES) for feed in FEEDS]
        asked = {", within a city": draw(feeds[: len(FEEDS)], day, options.questions),
                 ", to the next city": draw(feeds[: len(FEEDS)], day, options.questions, SHIFT_DEG)}  # fmt: skip
        rows.append(measure("five New Yorks", [*feeds, link(Path(folder))], asked, day))
    if options.plot:
        Path(options.plot).write_text(plot(rows))


if __name__ == "__main__":
    main()
