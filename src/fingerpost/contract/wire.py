"""The base of every published input and output model, and the numbers that may stand in one.

Python attributes are snake_case; the wire is camelCase (ruling A1); serialising goes by alias and leaves out
what is absent (ruling A2). Contract 002's own models are printed in snake_case and are not wire models.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    Strict,
    TypeAdapter,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema


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
"""A whole number; 2.0 is 2. Booleans, numeric strings, NaN and infinities are refused (ruling A6)."""


def _print_number(value: float) -> int | float:
    return int(value) if value.is_integer() else value


Number = Annotated[float, Strict(), AllowInfNan(False), PlainSerializer(_print_number, return_type=int | float)]
"""A finite number. Booleans, numeric strings, NaN and infinities are refused (ruling A6)."""

Flag = Annotated[bool, Strict()]
"""True or false; nothing that merely looks like it (ruling A6)."""

Identifier = Annotated[str, BeforeValidator(_read_identifier), Field(min_length=1)]
"""A text that is not blank; a number is read as text (ruling A6)."""


class WireModel(BaseModel):
    """A published shape: closed, camelCase outside, snake_case inside.

    An explicit null is absence (ruling A2): the default holds, and a required field is missing.
    Keys that the model does not know are refused even when null.
    Python code may construct by attribute name; ``read`` takes the wire's names only.
    """

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_alias=True, validate_by_name=True, serialize_by_alias=True
    )

    keeps_nulls: ClassVar[bool] = False
    """True where the contract writes absent fields as null (contract 004)."""

    _nullable_keys: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Remember the keys under which a null means absence."""
        super().__pydantic_init_subclass__(**kwargs)
        names = set(cls.model_fields)
        cls._nullable_keys = frozenset(names | {f.alias for f in cls.model_fields.values() if f.alias is not None})

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict) or None not in data.values():
            return data
        known = cls._nullable_keys
        return {key: value for key, value in data.items() if value is not None or key not in known}

    @classmethod
    def read(cls, raw: Any) -> Self:
        """Return the model of a wire object: aliases only, attribute names are unknown fields.

        Raises:
            pydantic.ValidationError: the object does not hold.
        """
        return cls.model_validate(raw, by_alias=True, by_name=False)

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON-ready object, by alias, absent fields left out unless the contract writes null.

        Values of a wrong type pass as they are: whoever sends the object reads it back first.

        Raises:
            pydantic_core.PydanticSerializationError: a value has no JSON form.
        """
        return self.model_dump(mode="json", by_alias=True, exclude_none=not self.keeps_nulls, warnings=False)


class _CompactSchema(GenerateJsonSchema):
    """JSON Schema without what a caller can do without: titles, docstrings of classes, OpenAPI's discriminator."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (pydantic's signature)
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        result = super().model_schema(schema)
        result.pop("title", None)
        result.pop("description", None)
        for field in result.get("properties", {}).values():
            _name_bounds(field)
            if issubclass(schema["cls"], WireModel) and not schema["cls"].keeps_nulls:
                _forget_null(field)
        return result

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        result = super().tagged_union_schema(schema)
        result.pop("discriminator", None)
        return result


_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}


def _name_bounds(field: dict[str, Any]) -> None:
    """Give bounds their names: pydantic leaves its own where a bound stands behind a validator in an annotation."""
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


def schema_of(model: type[BaseModel] | Sequence[type[BaseModel]]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what a model accepts, by alias, compact, in a fixed order.

    Several models give an object that is any one of them.
    """
    if isinstance(model, type):
        schema = model.model_json_schema(by_alias=True, schema_generator=_CompactSchema, mode="validation")
    else:
        parts, shared = TypeAdapter.json_schemas(
            [(part, "validation", TypeAdapter(part)) for part in model], by_alias=True, schema_generator=_CompactSchema
        )
        schema = {"type": "object", "anyOf": [parts[part, "validation"] for part in model], **shared}
    for definition in schema.get("$defs", {}).values():
        if "enum" in definition:
            definition.pop("title", None)
            definition.pop("description", None)
    return schema
