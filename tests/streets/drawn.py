"""Streets drawn as text, written as an OpenStreetMap file.

A cell is 100 m wide and high, and the map lies at the equator, where a degree is as long either way::

    A---B
    |   s      a street goes from node to node, straight; its kind is that of the first special letter on it
    C-#-D      # is a bridge: what comes from the left goes on to the right, from above to below, and nothing meets

Nodes: capital letters, ``+``; ``*`` has traffic lights, ``o`` a gate that is shut, ``k`` a raised kerb, ``l`` a lift.
Streets: ``-`` and ``|``; ``s`` steps, ``p`` private, ``>`` and ``v`` one-way roads (right, down), ``e`` a footway that
walkers may use to the right or down only, ``x`` a motorway.
"""

from dataclasses import dataclass
from textwrap import dedent
from typing import NamedTuple

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from tests.osm_file import osm_text

CELL_M = 100.0
DEG = CELL_M / METRES_PER_DEGREE

TAGS = {
    "plain": {"highway": "residential"},
    "s": {"highway": "steps"},
    "p": {"highway": "service", "access": "private"},
    ">": {"highway": "residential", "oneway": "yes"},
    "v": {"highway": "residential", "oneway": "yes"},
    "e": {"highway": "footway", "oneway": "yes"},
    "x": {"highway": "motorway"},
}
NODE_TAGS = {
    "*": {"highway": "crossing", "crossing": "traffic_signals"},
    "o": {"barrier": "gate", "access": "no"},
    "k": {"barrier": "kerb", "kerb": "raised"},
    "l": {"highway": "elevator"},
}


class Node(NamedTuple):
    """A node of the drawing: its letter, and where it stands in cells, to the right and down."""

    letter: str
    x: int
    y: int


class Street(NamedTuple):
    """A street from one node (number) to another, to the right or down."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Drawing:
    nodes: list[Node]
    streets: list[Street]

    def find(self, letter):
        return next(number for number, node in enumerate(self.nodes) if node.letter == letter)

    def ring(self, letters):
        return [self.find(letter) + 1 for letter in letters]

    def place(self, letter):
        node = self.nodes[self.find(letter)]
        return degrees(node.x, node.y)

    def length_m(self, street):
        start, end = self.nodes[street.start], self.nodes[street.end]
        return CELL_M * (abs(end.x - start.x) + abs(end.y - start.y))


def degrees(x, y):
    return -y * DEG, x * DEG


def read(text):
    rows = dedent(text).strip("\n").split("\n")
    cells = {(x, y): letter for y, row in enumerate(rows) for x, letter in enumerate(row) if letter != " "}
    is_node = {at for at, letter in cells.items() if letter.isupper() or letter in "+*okl"}
    nodes = sorted(is_node, key=lambda at: (at[1], at[0]))
    number = {at: index for index, at in enumerate(nodes)}
    streets = []
    for at in nodes:
        for step, letters in (((1, 0), "->#spex"), ((0, 1), "|v#spex")):
            passed, here = [], (at[0] + step[0], at[1] + step[1])
            while cells.get(here, " ") in letters and here not in is_node:
                passed.append(cells[here])
                here = (here[0] + step[0], here[1] + step[1])
            if here in is_node and passed:
                kind = next((letter for letter in passed if letter not in "-|#"), "plain")
                streets.append(Street(number[at], number[here], kind))
    return Drawing([Node(cells[at], *at) for at in nodes], streets)


def osm(drawing, extra_nodes=(), extra_ways=(), extra_relations=()):
    """Return the drawing as an OpenStreetMap file; node 1 is the first, way 1 too.

    Extra nodes are (id, lat, lon, tags), extra ways (nodes, tags), extra relations (roles of the extra ways, tags).
    """
    nodes = [
        (number, *degrees(node.x, node.y), NODE_TAGS.get(node.letter, {}))
        for number, node in enumerate(drawing.nodes, 1)
    ]
    ways = [((street.start + 1, street.end + 1), TAGS[street.kind]) for street in drawing.streets]
    relations = [(list(enumerate(roles, len(ways) + 1)), tags) for roles, tags in extra_relations]
    return osm_text([*nodes, *extra_nodes], [*ways, *extra_ways], relations)
