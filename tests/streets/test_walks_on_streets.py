"""Walks on drawn streets: what may be walked, and which way is the best."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.streets import oracle
from tests.streets.drawn import degrees, read
from tests.streets.towns import NO_STEPS, PLAIN, TURNING, Town


def test_a_bridge_does_not_meet_the_road_below(tmp_path):
    """From A one cannot turn down where the bridge crosses the road: the way goes round by B."""
    town = Town(
        """
           C
           |
        A--#--B
           |  |
           D--E
        """,
        tmp_path,
    )

    assert town.walk("A", "D") == (1100, 880.0)


def test_a_one_way_road_does_not_bind_walkers(tmp_path):
    """B to A is walked against the traffic."""
    town = Town("A--->---B", tmp_path)

    assert town.walk("B", "A") == (800, 640.0)


def test_a_one_way_footway_binds_them(tmp_path):
    """An escalator's kind of way is taken along it, and the other way round only over the top."""
    town = Town(
        """
        A--e--B
        |     |
        C-----D
        """,
        tmp_path,
    )

    assert (town.walk("A", "B"), town.walk("B", "A")) == ((600, 480.0), (1000, 800.0))


def test_a_motorway_is_not_walked(tmp_path):
    """Round by C and D."""
    town = Town(
        """
        A--x--B
        |     |
        C-----D
        """,
        tmp_path,
    )

    assert town.walk("A", "B") == (1000, 800.0)


def test_steps_take_three_times_as_long(tmp_path):
    """200 m of steps and 200 m of street: 480 s and 160 s, still faster than the way round."""
    town = Town(
        """
        A-+s+-B
        |     |
        |     |
        C-----D
        """,
        tmp_path,
    )

    assert town.walk("A", "B") == (600, 400 / 1.25 + 200 / 1.25 * 3)


def test_who_cannot_climb_steps_goes_round(tmp_path):
    """The same town without steps: 600 m and twice 300 m down and up."""
    town = Town(
        """
        A-+s+-B
        |     |
        |     |
        C-----D
        """,
        tmp_path,
        NO_STEPS,
    )

    assert town.walk("A", "B") == (1200, 960.0)


def test_nobody_cuts_through_a_private_road_but_may_begin_on_one(tmp_path):
    """From A to B round by C and D; from the middle of the private road straight on."""
    text = """
        A--p--B
        |     |
        |     |
        C-----D
        """
    town = Town(text, tmp_path)

    assert (town.walk("A", "B"), town.walk((3, 0), "B")) == ((1200, 960.0), (300, 240.0))


def test_a_shut_gate_is_not_passed(tmp_path):
    """The short way is shut at its middle."""
    town = Town(
        """
        A--o--B
        |     |
        C-----D
        """,
        tmp_path,
    )

    assert town.walk("A", "B") == (1000, 800.0)


def test_lights_cost_a_wait_where_they_are_passed(tmp_path):
    """15 s at the crossing between A and B, none for who only walks up to it."""
    town = Town("A--*--B", tmp_path)

    assert (town.walk("A", "B"), town.walk("A", (3, 0))) == ((600, 495.0), (300, 240.0))


def test_a_turn_takes_time_where_the_profile_says_so(tmp_path):
    """A right angle at 20 degrees a metre: 4.5 m more, at 1.25 m/s."""
    town = Town(
        """
        A--B
           |
           C
        """,
        tmp_path,
        TURNING,
    )

    assert town.walk("A", "C") == (500, 400 + 3.6)


def test_one_begins_at_the_nearest_point_of_a_way_not_at_its_end(tmp_path):
    """Half-way between A and B, a little off the street: the street counts from there."""
    town = Town("A-------B", tmp_path)

    assert town.walk((4, 0.3), "B") == (400, 320.0)


def test_who_is_further_than_300_m_from_a_street_is_not_on_it(tmp_path):
    """2.99 cells away is near enough, 3.01 is not."""
    town = Town("A-------B", tmp_path)

    assert [town.walk((4, 2.99), "B"), town.walk((4, 3.01), "B")] == [(400, 320.0), None]


def test_a_dearer_walk_within_the_limit_is_found(tmp_path):
    """Down the steps 600 m, as slow as 1,200 m on the level; round by the right 800 m, which is over the limit."""
    town = Town("A---+\ns   |\ns   |\nQ-P-+\n  |\n  D", tmp_path)

    assert (town.walk("A", (3, 3)), town.walk("A", (3, 3), 700.0)) == ((800, 640.0), (600, 960.0))


@pytest.mark.parametrize(("limit_m", "found"), [(800.5, (800, 640.0)), (799.5, None)])
def test_a_walk_longer_than_the_limit_is_not_found(tmp_path, limit_m, found):
    """800 m between A and B."""
    town = Town("A-------B", tmp_path)

    assert town.walk("A", "B", limit_m) == found


def test_streets_that_hang_together_with_little_are_left_out(tmp_path):
    """400 m that no other street leads to are not snapped to; 2,000 m are."""
    town = Town(
        """
        A-------------------------B

        C---D
        """,
        tmp_path,
    )

    assert (town.built.left_out_m, town.walk("D", "B")) == (pytest.approx(400, abs=0.1), (2200, 1760.0))


def test_an_island_of_two_kilometres_stays(tmp_path):
    """C to D is walked on its own; nothing leads over to A."""
    town = Town(
        """
        A-------------------------B



        C--------------------D
        """,
        tmp_path,
    )

    assert (town.walk("C", "D"), town.walk("C", "B")) == ((2100, 1680.0), None)


def test_a_walk_is_drawn_along_its_streets(tmp_path):
    """From a third of the way along the first street, round both corners, to the last node."""
    town = Town(
        """
        A--B
           |
           C--D
        """,
        tmp_path,
    )

    assert town.line((1, 0), "D") == [(1.0, 0.0), (3.0, 0.0), (3.0, 2.0), (6.0, 2.0)]


def test_a_walk_back_is_drawn_backwards(tmp_path):
    """The same street from its end."""
    town = Town(
        """
        A--B
           |
           C
        """,
        tmp_path,
    )

    assert town.line("C", (1, 0)) == [(3.0, 2.0), (3.0, 0.0), (1.0, 0.0)]


SQUARE = """
A---B
|   |
|   |
|   |
C---D
"""


def _square(tmp_path, tags, hole=()):
    """The square has corners A, B, C, D; streets come to A from the left and to D from the right."""
    drawing = read("E-A B\n\n\n\n  C D-F")
    # The outer ring is way 3, an inner one way 4 of a multipolygon.
    corner = {letter: drawing.find(letter) + 1 for letter in "ABCD"}
    ring = [corner[letter] for letter in "ABDCA"]
    return Town(drawing, tmp_path, extra_ways=((ring, tags), *hole))


def test_a_square_is_crossed_in_a_straight_line(tmp_path):
    """From A to D across, 2 cells right and 4 down."""
    town = _square(tmp_path, {"highway": "pedestrian", "area": "yes"})

    assert town.walk("A", "D")[0] == round(100 * 20**0.5)


def test_a_closed_way_that_is_no_area_is_walked_round(tmp_path):
    """The same ring as a street."""
    town = _square(tmp_path, {"highway": "pedestrian"})

    assert town.walk("A", "D")[0] == 600


@pytest.mark.parametrize("ring", ["ABIDEFA", "AFEDIBA"])
def test_a_square_is_crossed_round_its_inner_corner(tmp_path, ring):
    """From A to E one does not see across the corner I: 2 and 4 cells there, 4 and 2 on, drawn either way round."""
    drawing = read("G-A B\n\n\n\n    I   D\n\n  F     E-H")
    corner = {letter: drawing.find(letter) + 1 for letter in "ABDEFI"}
    square = [corner[letter] for letter in ring], {"highway": "pedestrian", "area": "yes"}
    town = Town(drawing, tmp_path, extra_ways=(square,))

    assert town.walk("A", "E")[0] == round(200 * 20**0.5)


def test_what_stands_in_a_square_is_walked_round_closely(tmp_path):
    """A house in the middle: from the left to the right round its corner, 3 cells right and 1 up, and again."""
    drawing = read("  A     B\n\n    I J\nE-G     H-F\n    L K\n\n  C     D")
    corner = {letter: drawing.find(letter) + 1 for letter in "ABCDGHIJKL"}
    rings = {"outer": "ABHDCGA", "inner": "IJKLI"}
    ways = [([corner[letter] for letter in ring], {}) for ring in rings.values()]
    relation = (rings, {"type": "multipolygon", "highway": "pedestrian", "area": "yes"})
    town = Town(drawing, tmp_path, extra_ways=ways, extra_relations=[relation])

    assert town.walk("G", "H")[0] == pytest.approx(200 + 200 * 5**0.5, abs=1)


def test_a_platform_is_walked_across(tmp_path):
    """A platform is an area by its nature."""
    town = _square(tmp_path, {"railway": "platform"})

    assert town.walk("A", "D")[0] == round(100 * 20**0.5)


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


@settings(max_examples=60, deadline=None)
@given(towns(), st.data())
def test_every_walk_takes_as_long_as_the_slow_search_says(tmp_path_factory, text, data):
    """On any drawn town, from any place on a street to any other: as long as a plain Dijkstra finds."""
    drawing = read(text)
    streets = oracle.walkable(drawing) if any(street.kind != "x" for street in drawing.streets) else []
    if not streets:
        return
    town = Town(text, tmp_path_factory.mktemp("town"), PLAIN)
    places = []
    for _ in range(2):
        street = data.draw(st.sampled_from(streets))
        along = data.draw(st.integers(0, 3)) + 0.5
        start, end = drawing.nodes[street.start], drawing.nodes[street.end]
        # Half a cell from any node, so that one street is nearest.
        places.append((start.x + along * (end.x > start.x), start.y + along * (end.y > start.y)))
    snapped = [oracle.snap(drawing, streets, *place) for place in places]
    expected = oracle.seconds_between(drawing, *snapped)
    found = town.walk(*places)
    assert (found and found[1]) == (expected and pytest.approx(expected, abs=0.15))


def test_streets_behind_a_gate_count_as_much_as_others(tmp_path):
    """800 m of streets end at a gate, so that the 400 m behind a private way are for the ends of a walk only."""
    town = Town(
        """
            o       B
            |       |
            A       |
            |       |
            +---+ppp+
        """,
        tmp_path,
    )

    assert town.walk("A", "B") == (1400, 1120.0)


KERB = """
    A-k-B
    |   |
    C---D
    """


def test_who_takes_no_steps_goes_round_a_raised_kerb(tmp_path):
    """400 m over the kerb, 800 m round by C and D; up to the kerb from either side 200 m."""
    usual, step_free = (Town(KERB, tmp_path, profile) for profile in (PLAIN, NO_STEPS))
    kerb = (2, 0)

    assert (usual.walk("A", "B"), step_free.walk("A", "B")) == ((400, 320.0), (800, 640.0))
    assert (step_free.walk("A", kerb), step_free.walk(kerb, "B")) == ((200, 160.0), (200, 160.0))


@pytest.mark.parametrize(("kerb", "metres"), [("yes", 400), ("lowered", 400), ("raised", 800)])
def test_a_kerb_of_which_nothing_is_known_is_no_obstacle(tmp_path, kerb, metres):
    """``kerb=yes`` says that there is one, not how high it is."""
    town = Town(
        KERB.replace("-k-", "   "),
        tmp_path,
        NO_STEPS,
        extra_nodes=[(9, *degrees(2, 0), {"kerb": kerb})],
        extra_ways=[((1, 9, 2), {"highway": "footway"})],
    )

    assert town.walk("A", "B") == (metres, metres / 1.25)
