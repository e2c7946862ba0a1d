"""A slow, obvious Dijkstra search on drawn streets, as a reference for the fast one."""

import heapq
import math

from tests.streets.drawn import CELL_M

PACE = 1.25
STEPS_TIMES, LIGHTS_S = 3.0, 15.0
ISLAND_M = 2000.0


def walkable(drawing):
    return _list_long(drawing, [street for street in drawing.streets if street.kind != "x"], one_way="e")


def private(drawing, streets):
    public = [street for street in streets if street.kind != "p"]
    return set(streets).difference(_list_long(drawing, public, one_way=""))


def _list_long(drawing, streets, one_way):
    """Return the streets in connected parts that are long enough; streets of the kind ``one_way`` lead one way."""
    ahead = {street: _reach(drawing, streets, street, one_way) for street in streets}
    parts = {one: min(other for other in streets if other in ahead[one] and one in ahead[other]) for one in streets}
    size = {
        part: sum(drawing.length_m(street) for street in streets if parts[street] == part) for part in parts.values()
    }
    return [street for street in streets if size[parts[street]] >= min(ISLAND_M, max(size.values()))]


def _reach(drawing, streets, street, one_way):
    """Return the streets that can be reached from a street; nobody passes a shut gate."""
    reached, waiting = {street}, [street]
    while waiting:
        here = waiting.pop()
        left = {here.end} if here.kind == one_way else {here.start, here.end}
        left = {node for node in left if drawing.nodes[node].letter != "o"}
        for other in streets:
            if other not in reached and left & ({other.start} if other.kind == one_way else {other.start, other.end}):
                reached.add(other)
                waiting.append(other)
    return reached


def snap(drawing, streets, x, y):
    best = None
    for street in streets:
        start, end = drawing.nodes[street.start], drawing.nodes[street.end]
        length = drawing.length_m(street) / CELL_M
        dx, dy = (end.x - start.x) / length, (end.y - start.y) / length
        along = min(length, max(0.0, (x - start.x) * dx + (y - start.y) * dy))
        away = math.hypot(start.x + along * dx - x, start.y + along * dy - y)
        if best is None or away < best[0]:
            best = away, street, along * CELL_M
    return best[1], best[2]


def seconds_between(drawing, start, end):
    """Return the fewest seconds between two places (street, metres along it); None where there is no way.

    A walk is a row of streets; it is tried node by node, with how far it has come with private ones.
    """
    streets = walkable(drawing)
    closed = private(drawing, streets)
    leaving = {}
    for street in streets:
        leaving.setdefault(street.start, []).append((street, True))
        if street.kind != "e":
            leaving.setdefault(street.end, []).append((street, False))

    def seconds(street, metres):
        return metres / PACE * (STEPS_TIMES if street.kind == "s" else 1.0)

    def stage_on(street, stage):
        if street in closed:
            return 0 if stage == 0 else 2
        return None if stage == 2 else 1

    (first, first_m), (last, last_m) = start, end
    best = math.inf
    if first == last and (last_m >= first_m or first.kind != "e"):
        best = seconds(first, abs(last_m - first_m))
    heap, known, count = [], set(), 0
    stage = 0 if first in closed else 1
    for node, metres in ((first.end, drawing.length_m(first) - first_m), (first.start, first_m)):
        if node == first.end or first.kind != "e":
            heapq.heappush(heap, (seconds(first, metres), count, node, stage, metres < 0.01))
            count += 1
    while heap:
        so_far, _, node, stage, is_start = heapq.heappop(heap)
        if (node, stage, is_start) in known:
            continue
        known.add((node, stage, is_start))
        if drawing.nodes[node].letter == "o" and not is_start:
            continue
        wait = LIGHTS_S if drawing.nodes[node].letter == "*" and not is_start else 0.0
        for street, forward in leaving.get(node, ()):
            then = stage_on(street, stage)
            if then is None or (drawing.nodes[node].letter == "o"):
                continue
            if street == last:
                rest = last_m if forward else drawing.length_m(street) - last_m
                best = min(best, so_far + (wait if rest >= 0.01 else 0.0) + seconds(street, rest))
            ahead = street.end if forward else street.start
            whole = seconds(street, drawing.length_m(street))
            heapq.heappush(heap, (so_far + wait + whole, count, ahead, then, False))
            count += 1
    return None if best == math.inf else best
