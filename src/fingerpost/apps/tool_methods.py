"""Build a method for each tool from its input model, for the Python classes ``Fingerpost`` and ``SyncFingerpost``.

Type checkers and editors read tool_methods.pyi instead, which ``make docs`` writes with the types of the parameters.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from itertools import takewhile
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fingerpost.apps.wiring import TOOLS
from fingerpost.contract.published_tool import ToolDefinition
from fingerpost.transit.tools.get_departures import StopRef
from fingerpost.transit.tools.shapes import LatLon, TripEnd

_Body_co = TypeVar("_Body_co", covariant=True)

_POSITIONAL = frozenset({"raw_text", "from_", "to", "query_type", "parameters", "key", "run_id"})


class ToolMethods(Generic[_Body_co]):
    """Every tool as a method, with the contract's fields in snake_case.

    A subclass defines ``_fetch_body(tool, arguments)``, which calls a tool. If ``_fetch_body`` is asynchronous, so are
    the methods.
    """

    def __init_subclass__(cls) -> None:
        for tool in TOOLS:
            method = _new_method(tool, is_async=inspect.iscoroutinefunction(cls._fetch_body))
            setattr(cls, method.__name__, method)


def _new_method(tool: ToolDefinition, *, is_async: bool) -> Callable[..., Any]:
    signature = build_signature(tool)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = signature.bind(self, *args, **kwargs).arguments
        return self._fetch_body(tool.name, _build_arguments(tool, arguments))

    async def call_async(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await call(self, *args, **kwargs)

    method: Any = call_async if is_async else call
    method.__name__, method.__doc__, method.__signature__ = name_method(tool), tool.description, signature
    return method


def name_method(tool: ToolDefinition) -> str:
    return re.sub(r"(?=[A-Z])", "_", tool.name).lower()


def build_signature(tool: ToolDefinition) -> Signature:
    """Return the signature of a tool's method; a required point becomes the parameters ``lat`` and ``lon``."""
    defaults: dict[str, Any] = {}
    for name, field in _list_fields(tool):
        default = Parameter.empty if field.is_required() else None
        defaults |= dict.fromkeys(("lat", "lon") if _is_point(field) else (name,), default)
    positional = list(takewhile(_POSITIONAL.__contains__, defaults))
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for name, default in defaults.items():
        kind = Parameter.POSITIONAL_OR_KEYWORD if name in positional else Parameter.KEYWORD_ONLY
        parameters.append(Parameter(name, kind, default=default))
    return Signature(parameters)


def _list_fields(tool: ToolDefinition) -> list[tuple[str, FieldInfo]]:
    assert tool.input_model is not None
    return list(tool.input_model.model_fields.items())


def _is_point(field: FieldInfo) -> bool:
    return field.annotation is LatLon and field.is_required()


def _build_arguments(tool: ToolDefinition, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's arguments, keyed by their JSON names, without fields that are None."""
    arguments: dict[str, Any] = {}
    for name, field in _list_fields(tool):
        value = {axis: values[axis] for axis in ("lat", "lon")} if _is_point(field) else values.get(name)
        if value is not None:
            arguments[field.alias or name] = _expand(value, field.annotation)
    return arguments


def _expand(value: Any, annotation: Any) -> Any:
    """Convert a value to plain JSON types, and expand short forms to the contract's objects."""
    match value:
        case str() if annotation in (TripEnd, StopRef):
            return {"type": "label", "value": value}
        case (lat, lon) if annotation is TripEnd:
            return {"type": "coords", "value": {"lat": lat, "lon": lon}}
        case BaseModel():
            return value.model_dump()
        case Mapping():
            return dict(value)
        case Sequence() if not isinstance(value, str | bytes):
            return list(value)
    return value
