"""Edges that meet where nothing else does are one: fewer nodes to search, the same walks."""

from tests.streets.drawn import degrees
from tests.streets.towns import Town


def test_streets_of_one_kind_that_meet_alone_are_one_edge(tmp_path):
    """Four streets, drawn as one way each, with nothing at B, C and D: one edge of 800 m, its shape kept."""
    town = Town("A-B-C\n    |\n    D\n    |\n    E", tmp_path)

    assert town.graph.edge_count == 1
    assert town.graph.edge_m.round().tolist() == [800.0]
    assert town.line("A", "E") == [(0, 0), (2, 0), (4, 0), (4, 2), (4, 4)]


def test_what_is_walked_otherwise_or_makes_one_wait_stays_apart(tmp_path):
    """Steps between B and C, lights at D: A to B, B to C, C to D and D to E."""
    town = Town("A-Bs+-*-E", tmp_path)

    assert town.graph.edge_m.round().tolist() == [200.0, 200.0, 200.0, 200.0]
    assert town.walk("A", "E") == (800, 3 * 160.0 + 480.0 + 15.0)


def test_a_ring_at_the_end_of_a_way_is_walked_either_way_round(tmp_path):
    """One way goes from A by B round a ring of 800 m back to B; a place 200 m along the ring is 400 m from A."""
    ring = [(9, *degrees(4, 0), {}), (10, *degrees(4, 2), {}), (11, *degrees(2, 2), {})]
    town = Town("A-B", tmp_path, extra_nodes=ring, extra_ways=[((1, 2, 9, 10, 11, 2), {"highway": "footway"})])

    heads = town.graph.arc_head
    assert (heads[::2] != heads[1::2]).all()
    assert town.walk("A", (4, 0)) == (400, 320.0)
    assert town.walk("A", (2, 2)) == (400, 320.0)
    assert town.walk((2, 2), (4, 0)) == (400, 320.0)
