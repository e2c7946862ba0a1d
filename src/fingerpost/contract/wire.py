"""Declare, validate and publish the JSON shapes of a tool's arguments and answers.

Arguments are a ``WireModel``: snake_case attributes in Python, camelCase in JSON (rule A1).
An answer is a ``WireDict``, a TypedDict with JSON's keys, so mypy checks the function that writes it, except for
fields that ``write_stated`` leaves out. Answers about filings are models, because they inherit from one another.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
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

from fingerpost.contract.short_schema import name_any_types

Wire = dict[str, Any]
"""A JSON object as it goes over the wire: camelCase, absent fields left out."""

Shape = type[object]
"""The declaration of a wire object: a ``WireDict``, or a pydantic model."""


def _read_whole(value: Any) -> int:
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


Whole = Annotated[int, BeforeValidator(_read_whole)]
"""A whole number; 2.0 is 2. Booleans, numeric strings, NaN and infinities are refused (rule A6)."""


def _plain_number(value: float) -> int | float:
    return int(value) if value.is_integer() else value


Number = Annotated[float, Strict(), AllowInfNan(False), PlainSerializer(_plain_number, return_type=int | float)]
"""A finite number. Booleans, numeric strings, NaN and infinities are refused (rule A6)."""

Flag = Annotated[bool, Strict()]
"""True or false; nothing that merely looks like it (rule A6)."""

Identifier = Annotated[str, BeforeValidator(_read_identifier), Field(min_length=1)]
"""A text that is not blank; a number is read as text (rule A6)."""

PrintedId = Annotated[
    str, Field(min_length=1, max_length=200, pattern=r"^[A-Z0-9:_-]+$"), BeforeValidator(_read_identifier)
]
"""An id in the form in which fingerpost prints ids (rule A8)."""


class WireModel(BaseModel):
    """A published shape: closed, camelCase outside, snake_case inside.

    An explicit null counts as absent (rule A2). Unknown keys are refused, even with null.
    """

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_alias=True, validate_by_name=True, serialize_by_alias=True
    )

    keeps_nulls: ClassVar[bool] = False
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
        """Return the model of a wire object, by alias only; raise pydantic.ValidationError if it is invalid."""
        return cls.model_validate(raw, by_alias=True, by_name=False)

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON-ready object, by alias, absent fields left out unless the contract writes null.

        Values of a wrong type are not checked. Raise PydanticSerializationError if a value has no JSON form.
        """
        return self.model_dump(mode="json", by_alias=True, exclude_none=not self.keeps_nulls, warnings=False)


@with_config(ConfigDict(extra="forbid", strict=True))
class WireDict(TypedDict):
    """The base of every answer's shape: closed, its keys and values just as they go over the wire.

    A key that may be absent is ``NotRequired``; none is null unless its type says so (rule A2).
    """


_Shown = TypeVar("_Shown")


def write_stated(shape: type[_Shown], fields: Mapping[str, Any]) -> _Shown:  # noqa: ARG001  # names the type to mypy
    """Write a wire object without the fields that are None (rule A2); ``check`` compares it with its shape."""
    return cast("_Shown", {name: value for name, value in fields.items() if value is not None})


@dataclass(frozen=True, slots=True)
class WordOf:
    """Marks a text that is one of an enum's values or of a Literal's: ``status: Annotated[str, WordOf(Status)]``."""

    words: Any

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        is_enum = isinstance(self.words, type) and issubclass(self.words, Enum)
        return core_schema.literal_schema([word.value for word in self.words] if is_enum else [*get_args(self.words)])


@dataclass(frozen=True, slots=True)
class WireOf:
    """Marks an object that repeats a part of the question: ``constraints: Annotated[Wire, WireOf(Constraints)]``."""

    model: type[WireModel]

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return handler.generate_schema(self.model)


_adapters: dict[Shape, TypeAdapter[Any]] = {}


def adapter_of(shape: Shape) -> TypeAdapter[Any]:
    """Return the validator of a shape, which is built once."""
    adapter = _adapters.get(shape)
    if adapter is None:
        adapter = _adapters[shape] = TypeAdapter(shape)
    return adapter


def fields_of(shape: Any) -> dict[str, Any]:
    """Return the type of each field by its JSON name; empty for other types."""
    if is_typeddict(shape):
        return get_type_hints(shape)
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return {field.alias or name: field.annotation for name, field in shape.model_fields.items()}
    return {}


class _CompactSchema(GenerateJsonSchema):
    """JSON Schema without titles, docstrings of classes, OpenAPI's discriminator, and defaults that are objects.

    An object that is left out has the same effect as an empty one.
    """

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        result = super().typed_dict_schema(schema)
        result.pop("title", None)
        result.pop("description", None)
        for field in result.get("properties", {}).values():
            _name_bounds(field)
        return result

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (pydantic's signature)
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        result = super().model_schema(schema)
        result.pop("title", None)
        result.pop("description", None)
        for field in result.get("properties", {}).values():
            if issubclass(schema["cls"], WireModel) and not schema["cls"].keeps_nulls:
                _forget_null(field)
            if isinstance(field.get("default"), dict):
                del field["default"]
            # Only now, because a bound of an optional field was in its one choice.
            _name_bounds(field)
        return result

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        result = super().tagged_union_schema(schema)
        result.pop("discriminator", None)
        return result


_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}


def _name_bounds(field: dict[str, Any]) -> None:
    """Give bounds their JSON Schema names, which pydantic omits if a bound follows a validator in an annotation."""
    for own, name in _BOUNDS.items():
        if own in field:
            field[name] = field.pop(own)


def _forget_null(field: dict[str, Any]) -> None:
    """Take ``null`` out of an optional field's schema: it is left out of answers, and never needed in questions."""
    if "default" not in field or field["default"] is not None:
        return
    del field["default"]
    choices = [choice for choice in field.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del field["anyOf"]
        for key, value in choices[0].items():
            field.setdefault(key, value)
    elif choices:
        field["anyOf"] = choices


# Stored as text, because callers change the objects.
_schemas: dict[Shape | tuple[Shape, ...], str] = {}


def schema_of(shape: Shape | Sequence[Shape]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the values that a shape accepts, by alias, compact, in a fixed order.

    Several shapes give an object that is any one of them.
    """
    key = shape if isinstance(shape, type) else tuple(shape)
    if key not in _schemas:
        _schemas[key] = json.dumps(_write_schema(key))
    schema: dict[str, Any] = json.loads(_schemas[key])
    return schema


def _write_schema(shape: Shape | tuple[Shape, ...]) -> dict[str, Any]:
    if isinstance(shape, type):
        schema = adapter_of(shape).json_schema(by_alias=True, schema_generator=_CompactSchema, mode="validation")
    else:
        parts, shared = TypeAdapter.json_schemas(
            [(at, "validation", adapter_of(part)) for at, part in enumerate(shape)],
            by_alias=True,
            schema_generator=_CompactSchema,
        )
        schema = {"type": "object", "anyOf": list(parts.values()), **shared}
    for definition in schema.get("$defs", {}).values():
        if "enum" in definition:
            definition.pop("title", None)
            definition.pop("description", None)
    name_any_types(schema)
    return schema
