"""A shorter schema accepts what the longer one does."""

import random

from jsonschema import Draft202012Validator

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.contract.short_schema import expand_any_types, inline_single_uses
from fingerpost.contract.wire import build_json_schema
from tests.apps.generated_calls import CallDrawer

POINT = {"type": "object", "properties": {"x": {"type": "number"}}, "description": "a point"}


def test_a_definition_with_one_use_is_inlined():
    schema = {
        "$defs": {"Point": POINT, "Line": {"properties": {"from": {"$ref": "#/$defs/Point"}}}},
        "properties": {"line": {"$ref": "#/$defs/Line", "description": "a line"}},
    }

    assert inline_single_uses(schema) == {
        "properties": {"line": {"properties": {"from": POINT}, "description": "a line"}}
    }


def test_recursive_or_repeated_definitions_stay_definitions():
    tree = {"properties": {"below": {"items": {"$ref": "#/$defs/Tree"}}}}
    egg, hen = {"items": {"$ref": "#/$defs/Hen"}}, {"items": {"$ref": "#/$defs/Egg"}}
    schema = {
        "$defs": {"Point": POINT, "Tree": tree, "Egg": egg, "Hen": hen},
        "properties": {
            "a": {"$ref": "#/$defs/Point"}, "b": {"$ref": "#/$defs/Point"}, "c": {"$ref": "#/$defs/Egg"},
        },
    }  # fmt: skip

    assert inline_single_uses(schema) == schema


def test_the_published_schemas_accept_what_the_full_ones_do(tmp_path):
    application = build(read_settings(home=tmp_path))
    drawer = CallDrawer(application, random.Random(17))
    models = {name: tool.definition.input_model for name, tool in application.tools.items() if name not in drawer.kinds}
    outcomes = set()
    for name, model in models.items():
        short = Draft202012Validator(application.tools[name].definition.input_schema)
        whole = Draft202012Validator(build_json_schema(model))
        for bent in (False, True) * 30:
            arguments = drawer.draw_sound(name)
            arguments = drawer.bend(arguments) if bent else arguments
            assert short.is_valid(arguments) == whole.is_valid(arguments)
            outcomes.add(short.is_valid(arguments))
    assert outcomes == {True, False}


def test_untyped_fields_accept_anything():
    schema = {
        "$defs": {"Any": {}},
        "properties": {
            "a": {"description": "any"},
            "b": {"const": 1},
            "c": {"items": {}},
            "d": {"$ref": "#/$defs/Any"},
        },
        "anyOf": [{"additionalProperties": {}}, {"additionalProperties": True}],
    }
    expand_any_types(schema)
    types = ("object", "array", "string", "number", "boolean", "null")
    any_type = {"anyOf": [{"type": name} for name in types]}

    assert schema == {
        "$defs": {"Any": any_type},
        "properties": {
            "a": {"description": "any", **any_type},
            "b": {"const": 1},
            "c": {"items": any_type},
            "d": {"$ref": "#/$defs/Any"},
        },
        "anyOf": [{"additionalProperties": any_type}, {"additionalProperties": True}],
    }


def test_every_published_schema_is_meaningful(tmp_path):
    """Of each tool, in and out: the Inspector complains of those that do."""
    for tool in build(read_settings(home=tmp_path)).tools.values():
        for schema in (tool.definition.input_schema, tool.definition.output_schema):
            parts = [part for part in parts_of(schema) if isinstance(part, dict)]
            assert [part for part in parts if part.keys() <= {"description", "title", "default"}] == []


def parts_of(schema):
    for key in ("properties", "$defs"):
        yield from schema.get(key, {}).values()
        for part in schema.get(key, {}).values():
            yield from parts_of(part)
    for key in ("anyOf", "oneOf"):
        yield from schema.get(key, ())
        for part in schema.get(key, ()):
            yield from parts_of(part)
    if isinstance(schema.get("items"), dict):
        yield schema["items"]
        yield from parts_of(schema["items"])
