"""Parts squares from what lies behind the walls at their border: the map draws both through the same nodes."""

from fingerpost.transit.osm.streets.extract import ExtractedStreets, Square, Way

# Below the ids of everything else: OpenStreetMap's own are positive, those of lifts are ways' ids below 0.
_FIRST_ID = -(1 << 60)


def part_at_walls(streets: ExtractedStreets) -> None:
    """Give each square nodes of its own along walls, except where the map has an opening.

    A square on top of a retaining wall and the way at its foot are drawn through one node, and do not meet.
    """
    walls = streets.walls - streets.openings
    copies: dict[frozenset[int], dict[int, int]] = {}
    for ring in (ring for square in streets.squares for ring in square.rings):
        walled = [node for node in dict.fromkeys(ring) if node in walls]
        if walled and frozenset(ring) not in copies:
            # Each copy adds a position, so the next id is free.
            own = {node: _FIRST_ID - len(streets.positions) - at for at, node in enumerate(walled)}
            streets.positions |= {copy: streets.positions[node] for node, copy in own.items()}
            copies[frozenset(ring)] = own

    def part(nodes: list[int]) -> list[int]:
        # A ring is a way too, which may begin at another node.
        own = copies.get(frozenset(nodes))
        return nodes if own is None else [own.get(node, node) for node in nodes]

    streets.squares = [Square(square.rule, [part(ring) for ring in square.rings]) for square in streets.squares]
    for at, way in enumerate(streets.ways):
        streets.ways[at] = Way(way.rule, part(way.nodes))
        streets.uses.update(node for node in streets.ways[at].nodes if node <= _FIRST_ID)
