"""Validate a tool call before execution (plan-step contract, statement S59), and describe its problems."""

import json
import types
from collections.abc import Mapping, Sized
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypeAliasType

from fingerpost.contract.tool import ToolRegistry
from fingerpost.contract.wire import Shape, WireModel, get_field_types, simplify_number
from fingerpost.errors import FieldProblem, ParameterError, QueryTypeUnsupported, ToolNotFound

# Each unknown field adds a sentence to the error, so thousands of unknown fields would stall a server.
MAX_FIELDS = 100
MAX_VALUES = 10_000

_MAX_PROBLEMS_IN_MESSAGE = 8
_MAX_LISTED_PROBLEMS = 100


def validate_call(tool_name: str, query_type: str, params: dict[str, Any]) -> None:
    """Validate a tool call before execution; raise the same errors as ``get_validated``."""
    get_validated(tool_name, query_type, params)


def get_validated(tool_name: str, query_type: str, params: dict[str, Any]) -> BaseModel:
    """Return the parameters as an instance of the query type's model.

    Raises:
        ToolNotFound: there is no such tool.
        QueryTypeUnsupported: the tool has no such query type.
        ParameterError: ``details["field"]`` is the first invalid field, if any; ``details["errors"]`` lists all.
    """
    # A caller may send an unhashable name, such as a list.
    spec = ToolRegistry.get_tool_spec(tool_name) if isinstance(tool_name, str) else None
    if spec is None:
        raise ToolNotFound(tool_name)
    if not isinstance(query_type, str) or query_type not in spec.input_schema:
        raise QueryTypeUnsupported(query_type, tool_name, list(spec.input_schema))
    model = spec.input_schema[query_type]
    try:
        return read_arguments(model, params)
    except ValidationError as error:
        raise ParameterError(str(error), explain(error, model).details) from error


def read_arguments(model: type[BaseModel], arguments: Any) -> BaseModel:
    """Parse arguments into ``model``; raise pydantic.ValidationError if they are invalid."""
    return model.read(arguments) if issubclass(model, WireModel) else model.model_validate(arguments)


def check_arguments(model: type[BaseModel], arguments: Any) -> None:
    """Raise a ParameterError that lists the problems if arguments are invalid."""
    try:
        read_arguments(model, arguments)
    except ValidationError as error:
        raise explain(error, model) from error


def explain(
    error: ValidationError, model: type[BaseModel], missing_messages: Mapping[str, str] | None = None
) -> ParameterError:
    """Convert a validation error to a ParameterError whose message lists the problems.

    For each unknown field, the message lists the fields that ``model`` allows.
    ``missing_messages`` maps paths to a contract's sentences for missing or blank values.
    """
    pydantic_errors = error.errors(include_url=False)
    for each in pydantic_errors:
        field = model.model_fields.get(str(each["loc"][0])) if each["loc"] else None
        if field is not None and field.alias and each["type"] != "extra_forbidden":
            # If a field's default is invalid, pydantic reports the field's Python name.
            each["loc"] = (field.alias, *each["loc"][1:])
    count, first_path = len(pydantic_errors), pydantic_errors[0]["loc"]
    problems = [describe_problem(each, model, missing_messages) for each in pydantic_errors[:_MAX_LISTED_PROBLEMS]]
    details: dict[str, Any] = {"field": first_path[0]} if first_path else {}
    details["errors"] = [{"field": problem.field, "reason": problem.sentence} for problem in problems]
    if count > len(problems):
        details["errors_left_out"] = count - len(problems)
    reported = problems[:_MAX_PROBLEMS_IN_MESSAGE]
    sentences = [problem.sentence for problem in reported]
    if count > len(reported):
        sentences.append(f"and {count - len(reported)} more")
    return ParameterError("; ".join(dict.fromkeys(sentences)), details, problems=reported)


def check_count(arguments: Mapping[str, Any], max_values: int | None) -> None:
    """Raise ParameterError if there are over 100 fields, or over ``max_values`` values, including nested ones."""
    if len(arguments) > MAX_FIELDS:
        raise ParameterError(f"the arguments have {len(arguments):,} fields; at most {MAX_FIELDS} are allowed")
    values: list[Any] = [dict(arguments)]
    for value in values if max_values is not None else ():
        if isinstance(value, (dict, list, tuple)):
            values += value.values() if isinstance(value, dict) else value
        if max_values is not None and len(values) > max_values + 1:
            raise ParameterError(f"the arguments contain more than {max_values:,} values", hint="Send fewer values")


_MAX_CHARS = 80


def describe_problem(
    error: ErrorDetails, shape: Shape, missing_messages: Mapping[str, str] | None = None
) -> FieldProblem:
    """Convert one pydantic error to a FieldProblem.

    ``shape`` determines the allowed names for an unknown field, and the union tags to remove from the path.
    ``missing_messages`` maps paths to a contract's sentences for missing or blank values.
    """
    path, parents = _resolve_path(shape, list(error["loc"]))
    kind, context, subject = error["type"], error.get("ctx", {}), path or "the arguments"
    if kind == "extra_forbidden":
        allowed = sorted({name for parent in parents for name in get_field_types(parent)})
        listed = f"; allowed: {', '.join(allowed)}" if allowed else ""
        return FieldProblem(path, f"unknown field '{path}'{listed}")
    message = error["msg"]
    if kind == "value_error" and "error" in context:
        # Drop the prefix of pydantic's message.
        message = str(context["error"])
    if kind == "whole_sentence" or (kind == "value_error" and not path):
        return FieldProblem(path, message)
    if kind == "value_error":
        predicate = f": {message}"
    elif kind in _PREDICATES:
        predicate = f" {_format_predicate(kind, error['input'], context)}"
    else:
        predicate = f": {clip(message[:1].lower() + message[1:])}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return FieldProblem(path, f"{subject}.{str(context['discriminator']).strip(chr(39))}{predicate}")
    if kind in ("missing", "blank") and missing_messages and path in missing_messages:
        return FieldProblem(path, missing_messages[path], predicate)
    return FieldProblem(path, f"{subject}{predicate}", predicate)


def format_value(value: Any) -> str:
    """Format a value for a message, as JSON if possible; truncate long text."""
    value = simplify_number(value)
    try:
        # Python raises ValueError when it formats an integer with thousands of digits.
        is_huge = isinstance(value, int) and value.bit_length() >= 4 * _MAX_CHARS
        text = "a very large number" if is_huge else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return clip(text)


def clip(text: str) -> str:
    """Truncate text for a message."""
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"


def describe_kind(value: Any) -> str:
    """Describe a value with its type, for example ``the number 5``; omit the contents of lists and objects."""
    match value:
        case None:
            return "null"
        case bool():
            return format_value(value)
        case int() | float():
            return f"the number {format_value(value)}"
        case str():
            return f"the text {format_value(value)}"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
    return f"a {type(value).__name__}"


_PREDICATES = {
    **dict.fromkeys(("missing", "union_tag_not_found"), "is missing"),
    "blank": "must not be empty",
    **dict.fromkeys(
        ("whole_number", "int_type", "int_from_float", "int_parsing"), "must be a whole number, not {kind}"
    ),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number, not {kind}"),
    "finite_number": "must be a finite number, not {kind}",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false, not {kind}"),
    **dict.fromkeys(("string_type", "identifier"), "must be text, not {kind}"),
    **dict.fromkeys(("list_type", "tuple_type"), "must be a list, not {kind}"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "must be an object, not {kind}"),
    "string_unicode": "contains characters that are not valid Unicode",
    "greater_than_equal": "must be at least {ge}; you sent {sent}",
    "less_than_equal": "must be at most {le}; you sent {sent}",
    "greater_than": "must be more than {gt}; you sent {sent}",
    "less_than": "must be less than {lt}; you sent {sent}",
    **dict.fromkeys(("string_too_short", "too_short"), "must have at least {min_length} {units}; you sent {length}"),
    **dict.fromkeys(("string_too_long", "too_long"), "must have at most {max_length} {units}; you sent {length}"),
    "string_pattern_mismatch": "must match {pattern}; you sent {sent}",
    **dict.fromkeys(("literal_error", "enum"), "must be {expected}; you sent {sent}"),
    "union_tag_invalid": "must be one of {expected_tags}; you sent {sent_tag}",
}


def _format_predicate(kind: str, value: Any, context: Mapping[str, Any]) -> str:
    template = "must not be empty" if context.get("min_length") == 1 else _PREDICATES[kind]
    if "{" not in template:
        # The value of a missing field is the whole object, which may be large.
        return template
    return template.format(
        **{key: format_value(bound) if isinstance(bound, int | float) else bound for key, bound in context.items()},
        kind=describe_kind(value),
        sent=format_value(value),
        units="entries" if isinstance(value, list | tuple | Mapping) else "characters",
        length=len(value) if isinstance(value, Sized) else describe_kind(value),
        sent_tag=format_value(context.get("tag")),
    )


def _resolve_path(shape: Shape, location: list[int | str]) -> tuple[str, list[Shape]]:
    """Return a location's dotted path, without union tags, and the shapes that contain its last part."""
    path = ""
    branches: list[Any] = [shape]
    parents: list[Shape] = []
    for part in location:
        branches = _list_branches(branches)
        if isinstance(part, str) and len(branches) > 1:
            # Skip the tag of the union's branch, which pydantic adds to the location.
            branches = [branch for branch in branches if _has_tag(branch, part)]
            continue
        parents = [branch for branch in branches if get_field_types(branch)]
        branches = [inner for branch in branches if (inner := _find_inner_type(branch, part)) is not None]
        path += f"[{part}]" if isinstance(part, int) else f"{'.' if path else ''}{clip(part)}"
    return path, parents


def _list_branches(annotations: list[Any]) -> list[Any]:
    members: list[Any] = []
    for annotation in annotations:
        if get_origin(annotation) in (Union, types.UnionType):
            members += _list_branches([member for member in get_args(annotation) if member is not types.NoneType])
        elif get_origin(annotation) is Annotated:
            members += _list_branches([get_args(annotation)[0]])
        elif isinstance(annotation, TypeAliasType):
            members += _list_branches([annotation.__value__])
        else:
            members.append(annotation)
    return members


def _has_tag(branch: Any, tag: str) -> bool:
    return getattr(branch, "__name__", "") == tag or any(
        tag in get_args(annotation)
        for annotation in get_field_types(branch).values()
        if get_origin(annotation) is Literal
    )


def _find_inner_type(annotation: Any, part: int | str) -> Any:
    fields = get_field_types(annotation)
    if fields:
        return fields.get(str(part))
    arguments = get_args(annotation)
    return arguments[0 if isinstance(part, int) else -1] if arguments else None
