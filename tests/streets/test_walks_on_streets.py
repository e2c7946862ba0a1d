"""Walks on drawn streets: which ways are allowed, and which route is best."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.streets import oracle
from tests.streets.drawn import degrees, read
from tests.streets.towns import NO_STEPS, Town

LOOP = """
    A--{}--B
    |     |
    C-----D
    """
STEPS = """
    A-+s+-B
    |     |
    |     |
    C-----D
    """
KERB = """
    A-k-B
    |   |
    C---D
    """
RING = """
    A---B
    |   |
    |   |
    |   |
    C---D
    """
ROAD = "A-------B"
BRIDGE = """
       C
       |
    A--#--B
       |  |
       D--E
    """
BEHIND_A_GATE = """
    o       B
    |       |
    A       |
    |       |
    +---+ppp+
    """


@pytest.mark.parametrize(
    ("text", "walks"),
    [
        pytest.param(BRIDGE, {"AD": (1100, 880.0)}, id="a bridge does not meet the road below: round by B"),
        pytest.param(LOOP.format(">"), {"BA": (600, 480.0)}, id="a one-way road does not bind walkers"),
        pytest.param(LOOP.format("e"), {"AB": (600, 480.0), "BA": (1000, 800.0)}, id="a one-way footway binds them"),
        pytest.param(LOOP.format("x"), {"AB": (1000, 800.0)}, id="a motorway is not walked"),
        pytest.param(LOOP.format("o"), {"AB": (1000, 800.0)}, id="a shut gate is not passed"),
        pytest.param(
            LOOP.format("p"),
            {"AB": (1000, 800.0), ((3, 0), "B"): (300, 240.0)},
            id="nobody cuts through a private road but may begin on one",
        ),
        pytest.param("A-+s+-B", {"AB": (600, 400 / 1.25 + 200 / 1.25 * 3)}, id="steps take three times as long"),
        pytest.param(KERB, {"AB": (400, 320.0)}, id="a raised kerb is stepped over"),
        pytest.param(
            "A--*--B",
            {"AB": (600, 495.0), ("A", (3, 0)): (300, 240.0)},
            id="lights cost 15 s where they are passed, not where one only walks up to them",
        ),
        pytest.param(ROAD, {((4, 0.3), "B"): (400, 320.0)}, id="one begins at the nearest point of a way"),
        pytest.param(
            ROAD,
            {((4, 2.99), "B"): (400, 320.0), ((4, 3.01), "B"): None},
            id="who is further than 300 m from a street is not on it",
        ),
        pytest.param(
            BEHIND_A_GATE,
            {"AB": (1400, 1120.0)},
            id="800 m that end at a gate count as much as others: 400 m behind a private way are for the ends only",
        ),
        pytest.param(
            RING, {"AC": (400, 320.0), "AD": (800, 640.0)}, id="a ring that nothing meets is walked the shorter way"
        ),
    ],
)
def test_the_best_way_is_walked(tmp_path, text, walks):
    town = Town(text, tmp_path)

    assert {ends: town.walk(*ends) for ends in walks} == walks


@pytest.mark.parametrize(
    ("text", "walks"),
    [
        (STEPS, {"AB": (1200, 960.0)}),
        # A raised kerb is reached from either side.
        (KERB, {"AB": (800, 640.0), ("A", (2, 0)): (200, 160.0), ((2, 0), "B"): (200, 160.0)}),
    ],
)
def test_step_free_riders_walk_around_steps_and_kerbs(tmp_path, text, walks):
    town = Town(text, tmp_path, NO_STEPS)

    assert {ends: town.walk(*ends) for ends in walks} == walks


@pytest.mark.parametrize(
    ("text", "end", "limit_m", "found"),
    [
        (ROAD, "B", 800.5, (800, 640.0)),
        (ROAD, "B", 799.5, None),
        # Down the steps 600 m, as slow as 1,200 m on the level; round by the right 800 m.
        ("A---+\ns   |\ns   |\nQ-P-+\n  |\n  D", (3, 3), 20_000.0, (800, 640.0)),
        ("A---+\ns   |\ns   |\nQ-P-+\n  |\n  D", (3, 3), 700.0, (600, 960.0)),
    ],
)
def test_a_walk_within_the_limit_is_found(tmp_path, text, end, limit_m, found):
    assert Town(text, tmp_path).walk("A", end, limit_m) == found


@pytest.mark.parametrize(
    ("start", "end", "line"),
    [
        ((1, 0), "D", [(1.0, 0.0), (3.0, 0.0), (3.0, 2.0), (6.0, 2.0)]),
        ("D", (1, 0), [(6.0, 2.0), (3.0, 2.0), (3.0, 0.0), (1.0, 0.0)]),
    ],
)
def test_a_walk_is_drawn_along_its_streets(tmp_path, start, end, line):
    assert Town("A--B\n   |\n   C--D", tmp_path).line(start, end) == line


@pytest.mark.parametrize(
    ("tags", "metres"),
    [
        ({"highway": "pedestrian", "area": "yes"}, round(100 * 20**0.5)),
        ({"railway": "platform"}, round(100 * 20**0.5)),
        ({"highway": "pedestrian"}, 600),
    ],
)
def test_a_square_is_crossed_in_a_straight_line(tmp_path, tags, metres):
    """From A to D, 2 cells right and 4 down; a platform is an area by its nature, another ring is walked round."""
    drawing = read("E-A B\n\n\n\n  C D-F")
    town = Town(drawing, tmp_path, extra_ways=[(drawing.ring("ABDCA"), tags)])

    assert town.walk("A", "D")[0] == metres


@pytest.mark.parametrize("ring", ["ABIDEFA", "AFEDIBA"])
def test_a_square_is_crossed_round_its_inner_corner(tmp_path, ring):
    """From A to E one does not see across the corner I: 2 and 4 cells there, 4 and 2 on, drawn either way round."""
    drawing = read("G-A B\n\n\n\n    I   D\n\n  F     E-H")
    square = drawing.ring(ring), {"highway": "pedestrian", "area": "yes"}
    town = Town(drawing, tmp_path, extra_ways=[square])

    assert town.walk("A", "E")[0] == round(200 * 20**0.5)


def test_obstacles_in_a_square_are_walked_around_closely(tmp_path):
    """A house in the middle: from the left to the right round its corner, 3 cells right and 1 up, and again."""
    drawing = read("  A     B\n\n    I J\nE-G     H-F\n    L K\n\n  C     D")
    rings = {"outer": "ABHDCGA", "inner": "IJKLI"}
    ways = [(drawing.ring(letters), {}) for letters in rings.values()]
    relation = (rings, {"type": "multipolygon", "highway": "pedestrian", "area": "yes"})
    town = Town(drawing, tmp_path, extra_ways=ways, extra_relations=[relation])

    assert town.walk("G", "H")[0] == pytest.approx(200 + 200 * 5**0.5, abs=1)


LINKS = "    --ssppee>>"


@st.composite
def towns(draw):
    """A grid of up to 4 x 4 nodes, 200 m apart, with any kind of street, gate, light and bridge between them."""
    width, height = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    rows = []
    for y in range(height):
        nodes = [
            draw(st.sampled_from("++++*o#" if 0 < x < width - 1 and 0 < y < height - 1 else "++++*o"))
            for x in range(width)
        ]
        links = [draw(st.sampled_from(LINKS)) for _ in range(width - 1)]
        rows.append("".join(node + link * 3 for node, link in zip(nodes, [*links, ""], strict=True)).rstrip())
        if y < height - 1:
            down = [draw(st.sampled_from(LINKS)).replace("-", "|").replace(">", "v") for _ in range(width)]
            rows += ["   ".join(down)] * 3
    return "\n".join(rows)


def draw_place(data, drawing, streets, along):
    street, cells = data.draw(st.sampled_from(streets)), data.draw(along)
    start, end = drawing.nodes[street.start], drawing.nodes[street.end]
    return start.x + cells * (end.x > start.x), start.y + cells * (end.y > start.y)


@settings(max_examples=60, deadline=None)
@given(towns(), st.data())
def test_every_walk_takes_as_long_as_the_slow_search_finds(tmp_path_factory, text, data):
    drawing = read(text)
    streets = oracle.walkable(drawing) if drawing.streets else []
    if not streets:
        return
    town = Town(text, tmp_path_factory.mktemp("town"))
    # Half a cell from any node, so that one street is nearest.
    halves = st.integers(0, 3).map(lambda cells: cells + 0.5)
    places = [draw_place(data, drawing, streets, halves) for _ in range(2)]
    snapped = [oracle.snap(drawing, streets, *place) for place in places]
    expected = oracle.seconds_between(drawing, *snapped)
    found = town.walk(*places)
    assert (found and found[1]) == (expected and pytest.approx(expected, abs=0.15))


@pytest.mark.parametrize(("kerb", "metres"), [("yes", 400), ("lowered", 400), ("raised", 800)])
def test_an_unknown_kerb_is_not_an_obstacle(tmp_path, kerb, metres):
    town = Town(
        KERB.replace("-k-", "   "),
        tmp_path,
        NO_STEPS,
        extra_nodes=[(9, *degrees(2, 0), {"kerb": kerb})],
        extra_ways=[((1, 9, 2), {"highway": "footway"})],
    )

    assert town.walk("A", "B") == (metres, metres / 1.25)


def test_a_ring_at_the_end_of_a_way_is_walked_either_way_round(tmp_path):
    """One way goes from A by B round a ring of 800 m back to B; a place 200 m along the ring is 400 m from A."""
    ring = [(9, *degrees(4, 0), {}), (10, *degrees(4, 2), {}), (11, *degrees(2, 2), {})]
    town = Town("A-B", tmp_path, extra_nodes=ring, extra_ways=[((1, 2, 9, 10, 11, 2), {"highway": "footway"})])

    heads = town.graph.arc_head
    assert (heads[::2] != heads[1::2]).all()
    assert town.walk("A", (4, 0)) == (400, 320.0)
    assert town.walk("A", (2, 2)) == (400, 320.0)
    assert town.walk((2, 2), (4, 0)) == (400, 320.0)
