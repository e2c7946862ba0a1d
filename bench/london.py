"""A city of London's size as GTFS, from a seed: 9,550 pairs of bus stops, 360 stations, every one of them served.

Bus lines are walks over a jittered grid that prefer points nobody has called at yet; what is left over at the end
gets lines of its own. Times are whole minutes, so that engines without seconds read the same feed.
"""

import argparse
import itertools
import math
import random
import zipfile
from pathlib import Path

RADIUS_M = 24_000.0
LATITUDE, LONGITUDE = 51.5, -0.12
M_PER_DEGREE = 111_195.0
ROAD_POINTS, BUS_LINES = 9_550, 720
STATIONS, RAIL_LINES = 360, 46
TRIPS = 137_000
CALENDAR = "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n"
SHARES = ((5, 7, 0.5), (7, 10, 1.0), (10, 16, 0.8), (16, 19, 1.0), (19, 24, 0.5))


def write_london(path: Path, *, scale: float = 1.0, seed: int = 1) -> None:
    """Write the feed; ``scale`` 1 is London."""
    dice = random.Random(seed)
    roads = _grid(dice, round(ROAD_POINTS * scale))
    tracks = _grid(dice, round(STATIONS * scale))
    stops: list[str] = []
    spots: dict[tuple[int, int], list[str]] = {}
    for number, (x, y) in enumerate(roads.values()):
        for side, off in (("N", 12.0), ("S", -12.0)):
            _add_stop(stops, spots, f"B{number:05}{side}", f"Street {number}", x + off, y + off)
    bus = [(roads, walk, 3) for walk in _walks(dice, roads, round(BUS_LINES * scale), 26, 46)]
    rail = [(tracks, walk, 1 + line % 2) for line, walk in enumerate(_walks(dice, tracks, RAIL_LINES, 8, 30))]
    for number, (x, y) in enumerate(tracks.values()):
        stops.append(_stop_row(f"S{number:04}", f"Station {number}", x, y, 1, ""))
    patterns: list[tuple[int, int, list[str], list[float]]] = []
    for line, (points, walk, mode) in enumerate([*bus, *rail]):
        numbers = {cell: number for number, cell in enumerate(points)}
        metres = [math.dist(points[a], points[b]) for a, b in itertools.pairwise(walk)]
        for direction in (0, 1):
            way, legs = (walk, metres) if direction == 0 else (walk[::-1], metres[::-1])
            if mode == 3:
                ids = [f"B{numbers[cell]:05}{'NS'[direction]}" for cell in way]
                minutes = [0.2 + leg * 1.15 / 290.0 for leg in legs]
            else:
                ids = [f"S{numbers[cell]:04}_{line}{direction}" for cell in way]
                for stop_id, cell in zip(ids, way, strict=True):
                    x, y = points[cell]
                    parent = f"S{numbers[cell]:04}"
                    place = x + dice.gauss(0, 25), y + dice.gauss(0, 25)
                    _add_stop(stops, spots, stop_id, f"Station {numbers[cell]}", *place, parent)
                minutes = [0.6 + leg * 1.1 / 800.0 for leg in legs]
            patterns.append((line, direction, ids, minutes))
    _write(path, dice, stops, patterns, [mode for _, _, mode in (*bus, *rail)], spots, round(TRIPS * scale))


def _grid(dice: random.Random, count: int) -> dict[tuple[int, int], tuple[float, float]]:
    """Return about so many points in a disc, by grid cell, each moved a little."""
    step = RADIUS_M * math.sqrt(math.pi / count)
    reach = int(RADIUS_M / step) + 1
    return {
        (i, j): (i * step + dice.uniform(-0.3, 0.3) * step, j * step + dice.uniform(-0.3, 0.3) * step)
        for i in range(-reach, reach + 1)
        for j in range(-reach, reach + 1)
        if math.hypot(i, j) * step <= RADIUS_M
    }


def _walks(
    dice: random.Random, points: dict[tuple[int, int], tuple[float, float]], count: int, shortest: int, longest: int
) -> list[list[tuple[int, int]]]:
    """Return so many walks, and as many more as it takes to call at every point."""
    around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    cells = sorted(points)
    left = dice.sample(cells, len(cells))
    served: set[tuple[int, int]] = set()
    walks = []
    while left or len(walks) < count:
        here = left.pop() if left else dice.choice(cells)
        if left and here in served:
            continue
        heading, walk, turned = dice.uniform(0, 2 * math.pi), [here], False
        length = dice.randint(shortest, longest)
        while len(walk) < length:
            ahead = [
                (here[0] + i, here[1] + j)
                for i, j in around
                if math.cos(math.atan2(j, i) - heading) > 0.4 and (here[0] + i, here[1] + j) in points
            ]
            ahead = [cell for cell in ahead if cell not in walk]
            if not ahead and turned:
                break
            if not ahead:
                # At the edge of the city: go on from the other end.
                walk.reverse()
                here, heading, turned = walk[-1], heading + math.pi, True
                continue
            here = min(ahead, key=lambda cell: (cell in served or cell in walk, dice.random()))
            walk.append(here)
        if len(walk) < 2:
            near = [(walk[0][0] + i, walk[0][1] + j) for i, j in around]
            walk.append(next(cell for cell in near if cell in points))
        served.update(walk)
        walks.append(walk)
    return walks


def _stop_row(stop_id: str, name: str, x: float, y: float, kind: int, parent: str) -> str:
    lat = LATITUDE + y / M_PER_DEGREE
    lon = LONGITUDE + x / M_PER_DEGREE / math.cos(math.radians(LATITUDE))
    return f"{stop_id},{name},{lat:.6f},{lon:.6f},{kind},{parent}\n"


def _add_stop(
    stops: list[str],
    spots: dict[tuple[int, int], list[str]],
    stop_id: str,
    name: str,
    x: float,
    y: float,
    parent: str = "",
) -> None:
    stops.append(_stop_row(stop_id, name, x, y, 0, parent))
    spots.setdefault((round(x / 200), round(y / 200)), []).append(stop_id)


def _write(
    path: Path,
    dice: random.Random,
    stops: list[str],
    patterns: list[tuple[int, int, list[str], list[float]]],
    modes: list[int],
    spots: dict[tuple[int, int], list[str]],
    trip_goal: int,
) -> None:
    clock = [f"{minute // 60:02}:{minute % 60:02}:00" for minute in range(60 * 48)]
    per_pattern = trip_goal / len(patterns)
    weight = sum((end - begin) * share for begin, end, share in SHARES)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as packed:
        packed.writestr(
            "agency.txt", "agency_id,agency_name,agency_url,agency_timezone\nA,Synthetic,https://example.org,UTC\n"
        )
        packed.writestr(
            "stops.txt", "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n" + "".join(stops)
        )
        routes = "".join(f"R{line},A,{line},Line {line},{mode}\n" for line, mode in enumerate(modes))
        packed.writestr("routes.txt", "route_id,agency_id,route_short_name,route_long_name,route_type\n" + routes)
        packed.writestr(
            "calendar.txt",
            CALENDAR + "EVERY,1,1,1,1,1,1,1,20260302,20260329\nWKD,1,1,1,1,1,0,0,20260302,20260329\n",
        )
        transfers = "".join(
            f"{a},{b},2,{120 if a == b else 180}\n" for spot in spots.values() for a in spot for b in spot
        )
        packed.writestr("transfers.txt", "from_stop_id,to_stop_id,transfer_type,min_transfer_time\n" + transfers)
        trips: list[str] = []
        with packed.open("stop_times.txt", "w", force_zip64=True) as table:
            table.write(b"trip_id,arrival_time,departure_time,stop_id,stop_sequence\n")
            for line, direction, ids, minutes in patterns:
                tails = [f",{stop_id},{number}\n" for number, stop_id in enumerate(ids, 1)]
                often = dice.choice([0.5, 0.8, 1.0, 1.0, 1.7])
                rows: list[str] = []
                for begin, end, share in SHARES:
                    departures = max(1, round(per_pattern * often * (end - begin) * share / weight))
                    for _ in range(departures):
                        at = dice.uniform(begin, end) * 60
                        trip = f"T{len(trips)}"
                        trips.append(f"R{line},{'EVERY' if dice.random() < 0.62 else 'WKD'},{trip},{direction}\n")
                        rows.append(f"{trip},{clock[int(at)]},{clock[int(at)]}{tails[0]}")
                        for minute, tail in zip(minutes, tails[1:], strict=True):
                            at += minute
                            rows.append(f"{trip},{clock[int(at)]},{clock[int(at)]}{tail}")
                table.write("".join(rows).encode())
        packed.writestr("trips.txt", "route_id,service_id,trip_id,direction_id\n" + "".join(trips))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("path", type=Path)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    write_london(chosen.path, scale=chosen.scale, seed=chosen.seed)
