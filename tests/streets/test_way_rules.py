"""The rules on walkable ways: each row tests one rule, next to its opposite."""

import pytest

from fingerpost.transit.osm.streets.extract import WayRule, blocks_node, find_way_rule, is_area
from fingerpost.transit.osm.streets.graph import ENDS_ONLY, MOVING, ONE_WAY, STEPS

WALKED = WayRule()
ENDS = WayRule(ENDS_ONLY)


@pytest.mark.parametrize(
    ("tags", "rule"),
    [
        ("highway=residential", WALKED),
        ("highway=construction", None),
        ("highway=motorway", None),
        ("highway=motorway foot=yes", WALKED),
        ("highway=motorway foot=yes motorroad=yes", None),
        ("highway=cycleway", None),
        ("highway=cycleway foot=designated", WALKED),
        ("highway=cycleway mtb:scale=1", WALKED),
        ("highway=path mtb:scale=2", WALKED),
        ("highway=path mtb:scale=3", None),
        ("highway=footway foot=no", None),
        ("highway=service access=no", None),
        ("highway=service access=no foot=yes", WALKED),
        ("highway=service access=private", ENDS),
        ("highway=service access=private foot=yes", WALKED),
        ("highway=service foot=customers", ENDS),
        ("highway=footway access=license", None),
        ("barrier=wall highway=footway", None),
        ("railway=platform", WALKED),
        ("railway=platform usage=tourism", None),
        ("railway=rail", None),
        ("indoor=corridor", WALKED),
        ("indoor=room", None),
        ("highway=steps", WayRule(STEPS)),
        ("highway=steps conveying=backward", WayRule(STEPS | MOVING | ONE_WAY, is_backward=True)),
        ("highway=steps conveying=reversible", WayRule(STEPS | MOVING)),
        ("highway=footway oneway=yes", WayRule(ONE_WAY)),
        ("highway=footway oneway=yes oneway:foot=no", WALKED),
        ("highway=residential oneway=yes", WALKED),
        ("highway=path oneway:foot=yes", WayRule(ONE_WAY)),
        ("highway=footway oneway=-1", WayRule(ONE_WAY, is_backward=True)),
        ("highway=steps foot:backward=no", WayRule(STEPS | ONE_WAY)),
        ("highway=trunk", WayRule(cost_factor=7.47)),
        ("highway=trunk sidewalk=both", WayRule(cost_factor=7.47 * 0.25)),
        ("highway=primary foot=use_sidepath", WayRule(cost_factor=5.0)),
        ("highway=primary foot=discouraged", WayRule(cost_factor=3.0)),
    ],
)
def test_tags_decide_how_a_way_is_walked(tags, rule):
    assert find_way_rule(_tags(tags)) == rule


@pytest.mark.parametrize(
    ("tags", "crossed"),
    [
        ("highway=pedestrian area=yes", True),
        ("highway=pedestrian", False),
        ("railway=platform", True),
        ("railway=platform area=no", False),
        ("indoor=area", True),
    ],
)
def test_tags_decide_whether_a_ring_is_crossed(tags, crossed):
    assert is_area(_tags(tags)) is crossed


@pytest.mark.parametrize(
    ("tags", "blocked"),
    [
        ("barrier=gate", False),
        ("barrier=gate access=no", True),
        ("barrier=gate access=no foot=yes", False),
        ("barrier=gate foot=no", True),
        ("barrier=wall", True),
        ("barrier=bollard", False),
        ("access=no", False),
    ],
)
def test_tags_decide_whether_a_node_can_be_passed(tags, blocked):
    assert blocks_node(_tags(tags)) is blocked


def _tags(text):
    return dict(tag.split("=") for tag in text.split())
