"""Declare, validate and publish the JSON shapes of a tool's arguments and answers.

Arguments are a ``WireModel``: snake_case attributes in Python, camelCase in JSON (rule A1).
An answer is a ``WireDict``, a TypedDict with the JSON's keys, so mypy checks the functions that build answers, except
those that use ``omit_none``. Answers about filings are models, because they inherit from one another.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast, get_args

from pydantic import (
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    Strict,
    TypeAdapter,
    model_validator,
    with_config,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema
from typing_extensions import TypedDict, get_type_hints, is_typeddict

Wire = dict[str, Any]
"""A JSON object as sent: camelCase keys, without absent fields."""

Shape = type[object]
"""The declaration of a wire object: a ``WireDict``, or a pydantic model."""


def _read_whole_number(value: Any) -> int:
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise PydanticCustomError("whole_number", "must be a whole number")


def _read_identifier(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else str(value)
    if not isinstance(value, str):
        raise PydanticCustomError("identifier", "must be text")
    if not value.strip():
        raise PydanticCustomError("blank", "must not be empty")
    return value


WholeNumber = Annotated[int, BeforeValidator(_read_whole_number)]
"""An integer; 2.0 is read as 2. Booleans, numeric strings, NaN and infinities are errors (rule A6)."""


def simplify_number(value: float) -> int | float:
    """Return a whole number as an int."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[float, Strict(), AllowInfNan(False), PlainSerializer(simplify_number, return_type=int | float)]
"""A finite number. Booleans, numeric strings, NaN and infinities are errors (rule A6)."""

Flag = Annotated[bool, Strict()]
"""True or false, without coercion from other types (rule A6)."""

Identifier = Annotated[str, BeforeValidator(_read_identifier), Field(min_length=1)]
"""A string that is not blank; a number is read as text (rule A6)."""

FormattedId = Annotated[
    str, Field(min_length=1, max_length=200, pattern=r"^[A-Z0-9:_-]+$"), BeforeValidator(_read_identifier)
]
"""An id as fingerpost formats it (rule A8)."""


class WireModel(BaseModel):
    """The base model for arguments: camelCase in JSON, snake_case in Python.

    An explicit null counts as absent (rule A2). Unknown keys are errors, even if their value is null.
    """

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_alias=True, validate_by_name=True, serialize_by_alias=True
    )

    writes_nulls: ClassVar[bool] = False
    """True for answers that write absent fields as null."""

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict) or None not in data.values():
            return data
        known = {name for key, field in cls.model_fields.items() for name in (key, field.alias)}
        return {key: value for key, value in data.items() if value is not None or key not in known}

    @classmethod
    def read(cls, raw: Any) -> Self:
        """Parse a JSON object by alias; raise pydantic.ValidationError if it is invalid."""
        return cls.model_validate(raw, by_alias=True, by_name=False)

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON-ready object by alias; omit absent fields unless the contract writes them as null.

        Types are not checked. Raise PydanticSerializationError if a value has no JSON form.
        """
        return self.model_dump(mode="json", by_alias=True, exclude_none=not self.writes_nulls, warnings=False)


class SnakeCaseModel(WireModel):
    """The base model for the plan-step contract, whose JSON is in snake_case too (rule A1)."""

    model_config = ConfigDict(alias_generator=None)


@with_config(ConfigDict(extra="forbid", strict=True))
class WireDict(TypedDict):
    """The base type for answers, with the keys and values of the JSON; extra keys are errors.

    Optional keys are ``NotRequired``; a value is null only if its type allows None (rule A2).
    """


class TruncationNotice(WireDict):
    """A truncated part of a standard response (rule A11)."""

    part: str
    shown: int
    total: int
    rest: str


_Shape = TypeVar("_Shape")


def omit_none(shape: type[_Shape], fields: Mapping[str, Any]) -> _Shape:  # noqa: ARG001  # tells mypy the type
    """Build a wire object without the fields that are None (rule A2); validation checks its shape later."""
    return cast("_Shape", {name: value for name, value in fields.items() if value is not None})


@dataclass(frozen=True, slots=True)
class EnumValue:
    """Annotates a string that must be a value of an enum or Literal: ``status: Annotated[str, EnumValue(Status)]``."""

    values: Any

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        is_enum = isinstance(self.values, type) and issubclass(self.values, Enum)
        return core_schema.literal_schema(
            [value.value for value in self.values] if is_enum else [*get_args(self.values)]
        )


_adapters: dict[Shape, TypeAdapter[Any]] = {}


def get_adapter(shape: Shape) -> TypeAdapter[Any]:
    """Return the cached validator for a shape."""
    if shape not in _adapters:
        _adapters[shape] = TypeAdapter(shape)
    return _adapters[shape]


def get_field_types(shape: Any) -> dict[str, Any]:
    """Return each field's type, keyed by its JSON name; empty if the shape has no fields."""
    if is_typeddict(shape):
        return get_type_hints(shape)
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return {field.alias or name: field.annotation for name, field in shape.model_fields.items()}
    return {}


# One branch per type, because some clients reject an empty schema, and many do not support a list of types.
_ANY_TYPE = {"anyOf": [{"type": name} for name in ("object", "array", "string", "number", "boolean", "null")]}


class _CompactSchema(GenerateJsonSchema):
    """Generates JSON Schema without titles, class docstrings, OpenAPI discriminators or object defaults.

    Object defaults are redundant, because an omitted object has the same effect as an empty one.
    """

    def any_schema(self, schema: core_schema.AnySchema) -> JsonSchemaValue:  # noqa: ARG002  (pydantic's signature)
        return dict(_ANY_TYPE)

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        result = super().dict_schema(schema)
        return result | {"additionalProperties": True} if result.get("additionalProperties") == _ANY_TYPE else result

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return _compact_object(super().typed_dict_schema(schema))

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (pydantic's signature)
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        result = super().model_schema(schema)
        for field in result.get("properties", {}).values():
            if issubclass(schema["cls"], WireModel) and not schema["cls"].writes_nulls:
                _remove_null(field)
            if isinstance(field.get("default"), dict):
                del field["default"]
        # Do this after null is removed: until then, an optional field's bounds are nested in ``anyOf``.
        return _compact_object(result)

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        result = super().tagged_union_schema(schema)
        result.pop("discriminator", None)
        return result


_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}


def _compact_object(schema: JsonSchemaValue) -> JsonSchemaValue:
    """Remove the title and docstring; rename bounds such as ``ge`` that pydantic leaves on validated fields."""
    schema.pop("title", None)
    schema.pop("description", None)
    for field in schema.get("properties", {}).values():
        for constraint, name in _BOUNDS.items():
            if constraint in field:
                field[name] = field.pop(constraint)
    return schema


def _remove_null(field: dict[str, Any]) -> None:
    """Remove ``null`` from an optional field's schema, because answers omit the field, and callers can too."""
    if "default" not in field or field["default"] is not None:
        return
    del field["default"]
    if field.get("anyOf") == _ANY_TYPE["anyOf"]:
        return
    choices = [choice for choice in field.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del field["anyOf"]
        for key, value in choices[0].items():
            field.setdefault(key, value)
    elif choices:
        field["anyOf"] = choices


def build_json_schema(shape: Shape | Sequence[Shape]) -> dict[str, Any]:
    """Return the compact JSON Schema (2020-12) of a shape, by alias and in a fixed order.

    For several shapes, the schema accepts any one of them.
    """
    key: Any = shape if isinstance(shape, type) else tuple(shape)
    schema: dict[str, Any] = json.loads(_generate_schema(key))
    return schema


@cache
def _generate_schema(shape: Shape | tuple[Shape, ...]) -> str:
    """Return a schema as JSON text, because callers modify the parsed schema."""
    if isinstance(shape, type):
        schema = get_adapter(shape).json_schema(by_alias=True, schema_generator=_CompactSchema, mode="validation")
    else:
        parts, shared = TypeAdapter.json_schemas(
            [(index, "validation", get_adapter(part)) for index, part in enumerate(shape)],
            by_alias=True,
            schema_generator=_CompactSchema,
        )
        schema = {"type": "object", "anyOf": list(parts.values()), **shared}
    for definition in schema.get("$defs", {}).values():
        if "enum" in definition:
            definition.pop("title", None)
            definition.pop("description", None)
    return json.dumps(schema)
