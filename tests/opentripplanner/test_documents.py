"""Every GraphQL document is valid, even for a server without fares."""

import pytest
from graphql import parse, validate

from fingerpost.transit.remote.opentripplanner import shapes
from fingerpost.transit.remote.opentripplanner.server import new_document
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


def list_faults(schema, shape, *, with_fares=True):
    return [error.message for error in validate(schema, parse(new_document(shape, with_fares=with_fares)))]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_document_is_valid(shape):
    assert list_faults(SCHEMA, shape) == []


def test_an_older_server_is_not_queried_for_fares():
    older = build_older(" riderCategory: RiderCategory", "type RiderCategory { isDefault: Boolean! }")

    assert list_faults(older, shapes.Plan, with_fares=False) == []
    assert list_faults(older, shapes.Plan) != []
