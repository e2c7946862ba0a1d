"""The streets of random cities: a grid with the oddities of OpenStreetMap extracts."""

import math
import random
from dataclasses import dataclass, field

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from tests.osm_file import osm_text

BLOCK_M = 220.0
# Each oddity is in a city with its probability.
ODDITIES = {
    "river": 0.5, "railway": 0.4, "private-road": 0.4, "one-way-steps": 0.4, "unconnected-square": 0.4,
    "island-with-ferry": 0.4, "tunnel": 0.3, "gate": 0.3, "closed-street": 0.3, "lake": 0.3, "escalator": 0.3,
}  # fmt: skip

Corner = tuple[int, int]


@dataclass(kw_only=True)
class City:
    """Corners of a grid of ``width`` by ``height`` blocks, and the ways between them."""

    lat: float
    lon: float
    width: int
    height: int
    features: frozenset[str]
    corners: list[Corner]
    ways: list[tuple[list[Corner], dict[str, str]]] = field(default_factory=list)
    shapes: list[tuple[list[tuple[float, float]], dict[str, str]]] = field(default_factory=list)
    node_tags: dict[Corner, dict[str, str]] = field(default_factory=dict)

    def place(self, corner: tuple[float, float]) -> tuple[float, float]:
        """Return the position of a corner, or of a point between corners, in degrees."""
        block = BLOCK_M / METRES_PER_DEGREE
        return self.lat + corner[0] * block, self.lon + corner[1] * block / math.cos(math.radians(self.lat))

    def to_osm(self) -> str:
        """Return the city as an OpenStreetMap file."""
        every = sorted({corner for way, _ in self.ways for corner in way})
        number = {corner: index for index, corner in enumerate(every, 1)}
        nodes = [(number[corner], *self.place(corner), self.node_tags.get(corner, {})) for corner in every]
        ways = [([number[corner] for corner in way], tags) for way, tags in self.ways]
        for points, tags in self.shapes:
            refs = []
            for point in points[:-1] if points[0] == points[-1] else points:
                nodes.append((len(nodes) + 1, *self.place(point), {}))
                refs.append(len(nodes))
            ways.append((refs + refs[:1] if points[0] == points[-1] else refs, tags))
        return osm_text(nodes, ways)


def draw_city(dice: random.Random, lat: float, lon: float) -> City:
    width, height = dice.randint(3, 7), dice.randint(3, 7)
    features = frozenset(name for name, share in ODDITIES.items() if dice.random() < share)
    corners = [(row, column) for row in range(height) for column in range(width)]
    city = City(lat=lat, lon=lon, width=width, height=height, features=features, corners=corners)
    # The river is between two rows of corners, the railway between two columns; both have one crossing or more.
    river, railway = (dice.randrange(size - 1) if name in features else None
                      for name, size in (("river", height), ("railway", width)))  # fmt: skip
    bridges = set(dice.sample(range(width), dice.randint(1, width)))
    crossings = set(dice.sample(range(height), dice.randint(1, height)))
    for row, column in corners:
        if row + 1 < height and (row != river or column in bridges):
            city.ways.append(([(row, column), (row + 1, column)], _draw_tags(dice, features, is_bridge=row == river)))
        if column + 1 < width and (column != railway or row in crossings):
            city.ways.append(([(row, column), (row, column + 1)], _draw_tags(dice, features)))
    if river is not None:
        banks = [(river + 0.3, -2.0), (river + 0.3, width + 1.0), (river + 0.7, width + 1.0), (river + 0.7, -2.0)]
        city.shapes.append(([*banks, banks[0]], {"natural": "water"}))
    if railway is not None:
        city.shapes.append(([(-2.0, railway + 0.5), (height + 1.0, railway + 0.5)], {"railway": "rail"}))
    _draw_squares(dice, city)
    if "gate" in features:
        city.node_tags[dice.choice(corners)] = {"barrier": "gate", "access": "private"}
    return city


def _draw_tags(dice: random.Random, features: frozenset[str], *, is_bridge: bool = False) -> dict[str, str]:
    if is_bridge:
        return {"highway": "residential", "bridge": "yes"}
    rare = [
        ("private-road", {"highway": "service", "access": "private"}),
        ("one-way-steps", {"highway": "steps", "oneway": "yes", "foot:backward": "no"}),
        ("escalator", {"highway": "steps", "conveying": "forward"}),
        ("tunnel", {"highway": "footway", "tunnel": "yes", "layer": "-1"}),
        ("closed-street", {"highway": "residential", "foot": "no"}),
    ]
    for feature, tags in rare:
        if feature in features and dice.random() < 0.08:
            return tags
    return {"highway": dice.choice(("residential", "residential", "footway", "tertiary", "pedestrian"))}


def _draw_squares(dice: random.Random, city: City) -> None:
    """Add places that no street leads to: a square, a platform, a lake, and an island that only a ferry reaches."""
    row, column = dice.choice(city.corners)
    if "unconnected-square" in city.features:
        city.shapes.append((_ring(row + 0.5, column + 0.5, 0.25), {"highway": "pedestrian", "area": "yes"}))
    if "escalator" in city.features:
        # A platform with an escalator up, and no way down.
        end = (city.height - 1, city.width - 1)
        city.ways.append(([(end[0] + 1, end[1]), end], {"highway": "steps", "conveying": "forward"}))
        city.corners.append((end[0] + 1, end[1]))
    if "lake" in city.features:
        city.shapes.append((_ring(city.height + 1.0, city.width / 2, 0.8), {"natural": "water"}))
    if "island-with-ferry" in city.features:
        pier, island = (0, 0), (-4, 0)
        city.ways.append(([pier, island], {"route": "ferry", "foot": "yes"}))
        city.ways.append(([island, (-4, 1), (-5, 1), (-5, 0), island], {"highway": "path"}))
        city.corners += [island, (-5, 1)]
        sea = [(-1.0, -3.0), (-1.0, 5.0), (-3.5, 5.0), (-3.5, -3.0)]
        if city.width % 2:
            city.shapes.append(([*sea, sea[0]], {"natural": "water"}))
        else:
            city.shapes += [(coast, {"natural": "coastline"}) for coast in (sea[:2], sea[2:])]


def _ring(row: float, column: float, half: float) -> list[tuple[float, float]]:
    corners = [(row - half, column - half), (row - half, column + half), (row + half, column + half),
               (row + half, column - half)]  # fmt: skip
    return [*corners, corners[0]]
