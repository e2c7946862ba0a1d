"""Every GraphQL document is valid, and selects exactly what its shape reads."""

import pytest
from graphql import FieldNode, FragmentSpreadNode, InlineFragmentNode, get_operation_ast, parse, validate
from pydantic import BaseModel

from fingerpost.transit.remote.opentripplanner import shapes
from fingerpost.transit.remote.opentripplanner.documents import DOCUMENTS, fit, list_optional
from fingerpost.transit.remote.opentripplanner.shapes import PlanData
from tests.opentripplanner.schema import SCHEMA, build_older

SHAPE_OF = {
    "Plan": PlanData,
    "Board": shapes.BoardData,
    "StopsById": shapes.StopsById,
    "StopsInBox": shapes.StopsInBox,
    "AllStops": shapes.AllStops,
    "Network": shapes.NetworkData,
}
NAMES = sorted(SHAPE_OF)


def read(document):
    parsed = parse(fit(document))
    fragments = {each.name.value: each for each in parsed.definitions if each.kind == "fragment_definition"}
    return get_operation_ast(parsed), fragments


def list_fields(node, fragments):
    found = []
    for each in node.selection_set.selections if node.selection_set else ():
        if isinstance(each, FieldNode):
            found.append(each)
        elif isinstance(each, FragmentSpreadNode):
            found += list_fields(fragments[each.name.value], fragments)
        else:
            assert isinstance(each, InlineFragmentNode)
            found += list_fields(each, fragments)
    return found


def answer_name(field):
    return field.alias.value if field.alias else field.name.value


def by_name():
    return {read(document)[0].name.value: document for document in DOCUMENTS}


def find_model(annotation):
    """Return the shape that a field's type leads to, through optionals and tuples; None for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        found = find_model(part)
        if found is not None:
            return found
    return None


def read_fields(shape):
    """Return the tree of field names that a shape reads; a plain value is an empty tree."""
    tree = {}
    for field in shape.model_fields.values():
        here, model = tree, find_model(field.annotation)
        for name in getattr(field.validation_alias, "path", [field.alias]):
            here = here.setdefault(name, {})
        here |= read_fields(model) if model else {}
    return tree


def select_fields(node, fragments):
    return {answer_name(each): select_fields(each, fragments) for each in list_fields(node, fragments)}


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_valid(name):
    assert [error.message for error in validate(SCHEMA, parse(fit(by_name()[name])))] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_selected_is_what_is_read(name):
    operation, fragments = read(by_name()[name])

    assert select_fields(operation, fragments) == read_fields(SHAPE_OF[name])


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
    plan = by_name()["Plan"]
    broken = {}
    for lacking, lines in older:
        schema = build_older(*lines)
        gone = {lacking, "RiderCategory.isDefault"} if lacking == "Leg.fareProducts" else {lacking}
        broken[lacking] = [error.message for error in validate(schema, parse(fit(plan, frozenset(gone))))]

    assert broken == {name: [] for name in list_optional()}
    assert validate(build_older(*older[0][1]), parse(fit(plan))) != []
