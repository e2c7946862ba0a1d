"""Walks as documented, recomputed here: the straight line times 1.3, at 1.25 m/s, both rounded up."""

import math
from collections import defaultdict

EARTH_M = 6_371_008.8
DETOUR, PACE_M_PER_S = 1.3, 1.25
# Beyond the walk itself, from one vehicle to the next.
CHANGE_S = 120
# And on top where the straight line between two places is all that is known of the way.
STRAIGHT_S = 135
LINKED_WITHIN_M = 500.0
# A cell of the grid of stops, in degrees: more than 500 m wherever these feeds lie.
CELL = 0.01


def straight_m(one, other):
    (lat, lon), (lat2, lon2) = one, other
    half_lat, half_lon = math.radians(lat2 - lat) / 2, math.radians(lon2 - lon) / 2
    part = (
        math.sin(half_lat) ** 2 + math.cos(math.radians(lat)) * math.cos(math.radians(lat2)) * math.sin(half_lon) ** 2
    )
    return 2 * EARTH_M * math.asin(math.sqrt(min(1.0, part)))


def walk_m(one, other):
    return math.ceil(DETOUR * straight_m(one, other))


def walk_s(metres):
    return math.ceil(metres / PACE_M_PER_S)


class Grid:
    def __init__(self, places):
        self.places = places
        self.cells = defaultdict(list)
        for number, (lat, lon) in places.items():
            self.cells[int(lat // CELL), int(lon // CELL)].append(number)

    def around(self, place, straight):
        lat, lon = place
        high = math.degrees(straight / EARTH_M) + 1e-6
        wide = high / math.cos(math.radians(abs(lat) + high))
        for row in range(int((lat - high) // CELL), int((lat + high) // CELL) + 1):
            for column in range(int((lon - wide) // CELL), int((lon + wide) // CELL) + 1):
                for number in self.cells.get((row, column), ()):
                    if straight_m(place, self.places[number]) <= straight:
                        yield number
