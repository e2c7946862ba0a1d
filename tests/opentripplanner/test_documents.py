"""Every GraphQL document is valid, also for a server that lacks some fields."""

import pytest
from graphql import parse, validate

from fingerpost.transit.remote.opentripplanner import shapes
from fingerpost.transit.remote.opentripplanner.documents import NEEDS, new_document
from tests.opentripplanner.schema import SCHEMA, build_older

SHAPES = [
    shapes.Plan,
    shapes.Board,
    shapes.StopsById,
    shapes.StopsInBox,
    shapes.AllStops,
    shapes.Network,
    shapes.Schema,
]


def list_faults(schema, shape, *lacking):
    return [error.message for error in validate(schema, parse(new_document(shape, frozenset(lacking))))]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_document_is_valid(shape):
    assert list_faults(SCHEMA, shape) == []


def test_an_older_server_is_not_asked_for_what_it_lacks():
    category, categories = " riderCategory: RiderCategory", "type RiderCategory { isDefault: Boolean! }"
    older = [
        ("RiderCategory.isDefault", (category, categories)),
        ("TimetablePreferencesInput.includeRealTimeCancellations", ("includeRealTimeCancellations: Boolean = false ",)),
        (
            "Leg.fareProducts",
            ("fareProducts: [FareProductUse]", category, categories),
        ),
    ]
    broken = {}
    for lacking, lines in older:
        gone = {lacking, "RiderCategory.isDefault"} if lacking == "Leg.fareProducts" else {lacking}
        broken[lacking] = list_faults(build_older(*lines), shapes.Plan, *gone)

    assert broken == {name: [] for name in NEEDS.values()}
    assert list_faults(build_older(*older[0][1]), shapes.Plan) != []
