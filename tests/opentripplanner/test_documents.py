"""Every GraphQL document is valid for each supported version."""

import pytest
from graphql import parse, validate

from fingerpost.transit.remote.opentripplanner import shapes
from fingerpost.transit.remote.opentripplanner.server import new_document
from tests.opentripplanner.schema import OLDER, SCHEMA

SHAPES = [shapes.Plan, shapes.Board, shapes.StopsById, shapes.StopsInBox, shapes.AllStops, shapes.Network]


def list_faults(schema, shape):
    return [error.message for error in validate(schema, parse(new_document(shape)))]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_document_is_valid_for_each_version(shape):
    assert (list_faults(SCHEMA, shape), list_faults(OLDER, shape)) == ([], [])


def measure_depth(node):
    selections = getattr(getattr(node, "selection_set", None), "selections", ())
    return max((1 + measure_depth(selection) for selection in selections), default=0)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_document_is_deeper_than_ten_levels(shape):
    """Servers refuse deep documents; that of a plan has ten levels."""
    (query,) = parse(new_document(shape)).definitions

    assert measure_depth(query) <= 10
