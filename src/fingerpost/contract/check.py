"""Validate a tool call before execution (plan-step contract, statement S59)."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from fingerpost.contract.problem import describe_problem
from fingerpost.contract.spec import ToolRegistry
from fingerpost.contract.wire import WireModel
from fingerpost.errors import FieldProblem, ParameterError, QueryTypeUnsupported, ToolNotFound

# Each unknown field adds a sentence to the error, so thousands would stall a server.
MAX_FIELDS = 100
MAX_VALUES = 10_000

_MAX_PROBLEMS = 8
_LISTED_PROBLEMS = 100


def validate_call(tool_name: str, query_type: str, params: dict[str, Any]) -> None:
    """Validate a tool call before execution; raise the errors of ``get_validated``."""
    get_validated(tool_name, query_type, params)


def get_validated(tool_name: str, query_type: str, params: dict[str, Any]) -> BaseModel:
    """Return the parameters as the query type's model.

    Raises:
        ToolNotFound: there is no such tool.
        QueryTypeUnsupported: the tool has no such query type.
        ParameterError: ``details["field"]`` is the first invalid field, if any; ``details["errors"]`` lists all.
    """
    # A caller's JSON may have a list as the name, which is not hashable.
    spec = ToolRegistry.get_tool_spec(tool_name) if isinstance(tool_name, str) else None
    if spec is None:
        raise ToolNotFound(tool_name)
    if not isinstance(query_type, str) or query_type not in spec.input_schema:
        raise QueryTypeUnsupported(query_type, tool_name, list(spec.input_schema))
    model = spec.input_schema[query_type]
    try:
        return model.read(params) if issubclass(model, WireModel) else model.model_validate(params)
    except ValidationError as error:
        raise ParameterError(str(error), _build_details(error, _list_problems(error, model, None))) from error


def explain(
    error: ValidationError,
    model: type[BaseModel] | None = None,
    when_missing: Mapping[str, str] | None = None,
) -> ParameterError:
    """Convert a validation error to a ParameterError whose message joins all problems.

    If ``model`` is given, the message lists the allowed fields for each unknown one.
    ``when_missing`` maps paths to a contract's sentence for missing or blank values.
    """
    problems = _list_problems(error, model, when_missing)
    sentences = [problem.sentence for problem in problems[:_MAX_PROBLEMS]]
    hidden_count = error.error_count() - _MAX_PROBLEMS
    more = [f"and {hidden_count} more problems"] if hidden_count > 0 else []
    return ParameterError(
        "; ".join(dict.fromkeys(sentences + more)),
        _build_details(error, problems),
        problems=problems[:_MAX_PROBLEMS],
    )


def _list_problems(
    error: ValidationError, model: type[BaseModel] | None, when_missing: Mapping[str, str] | None
) -> list[FieldProblem]:
    pydantic_errors = error.errors(include_url=False)[:_LISTED_PROBLEMS]
    return [describe_problem(error_details, model, when_missing) for error_details in pydantic_errors]


def _build_details(error: ValidationError, problems: Sequence[FieldProblem]) -> dict[str, Any]:
    first = error.errors(include_url=False)[0]["loc"]
    details: dict[str, Any] = {"field": first[0]} if first else {}
    details["errors"] = [{"field": problem.field, "reason": problem.sentence} for problem in problems]
    if error.error_count() > len(problems):
        details["errors_left_out"] = error.error_count() - len(problems)
    return details


def check_count(arguments: Mapping[str, Any], max_values: int | None) -> None:
    """Raise ParameterError if arguments have over 100 fields, or over ``max_values`` values at any depth."""
    if len(arguments) > MAX_FIELDS:
        raise ParameterError(f"the arguments have {len(arguments):,} fields; at most {MAX_FIELDS} are allowed")
    values: list[Any] = [arguments]
    for value in values if max_values is not None else ():
        if isinstance(value, Mapping | list | tuple):
            values += value.values() if isinstance(value, Mapping) else value
        if max_values is not None and len(values) > max_values + 1:
            raise ParameterError(f"the arguments contain more than {max_values:,} values", hint="Send a shorter call")
