"""Conditions: a subset of Python expressions on JSON values, evaluated on the syntax tree without ``eval``.

An expression may not use attributes, loops or arithmetic, and may call only a few functions. The length and depth of an
expression are limited. Callers evaluate conditions in a thread, because an operation may have to read all of a large
value.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

MAX_CHARS: Final = 500
MAX_DEPTH: Final = 20

_NAMES: Final = ("memory", "results", "value")

_EXAMPLE = "valid examples: value is not None, len(results) > 0, value['total'] >= 1"


class ConditionInvalid(ValueError):
    """The text is not a valid condition."""


class ConditionFailed(ValueError):
    """A valid condition cannot be evaluated, for example because of wrong types."""


def is_true(text: str, names: Mapping[str, Any]) -> bool:
    """Evaluate a valid condition, or raise ConditionFailed."""
    try:
        # The text is parsed for each evaluation, because hundreds of stored trees slow the garbage collector.
        return bool(_evaluate(_parse(text), names))
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        reason = f"there is no {error}" if isinstance(error, LookupError) else str(error)
        raise ConditionFailed(reason) from error


def check_condition(text: str, key: str | None) -> frozenset[str]:
    """Check a condition on ``value``, ``results``, ``memory`` and the step's key, or raise ConditionInvalid.

    Return the memory keys that the condition reads by a literal name, as in ``memory["trip"]``.
    """
    names: tuple[str, ...] = _NAMES
    if key is not None and key.isidentifier() and key not in names:
        names = (*names, key)
    if len(text) > MAX_CHARS:
        raise ConditionInvalid(f"it is {len(text)} characters long; the limit is {MAX_CHARS}")
    try:
        expression = _parse(text)
    except SyntaxError as error:
        raise ConditionInvalid(f"syntax error at column {error.offset or 1}; {_EXAMPLE}") from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise ConditionInvalid(
            "it is nested too deeply, or contains a number or a character that cannot be read"
        ) from error
    keys: set[str] = set()
    level: list[ast.AST] = [expression]
    for _ in range(MAX_DEPTH):
        children: list[ast.AST] = []
        for node in level:
            _check_node(node, names)
            match node:
                case ast.Subscript(value=ast.Name(id="memory"), slice=ast.Constant(value=str(key))):
                    keys.add(key)
            children += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]
            if isinstance(node, ast.Call):
                children.remove(node.func)
        if not children:
            return frozenset(keys)
        level = children
    raise ConditionInvalid(f"it is nested more than {MAX_DEPTH} levels deep")


def _parse(text: str) -> ast.expr:
    with warnings.catch_warnings():
        # Suppress Python's warnings about invalid escape sequences in strings.
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval").body


def _check_node(node: ast.AST, names: tuple[str, ...]) -> None:
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ConditionInvalid(f"unknown name {node.id!r}; the known names are {', '.join(names)}")
    elif isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS:
            raise ConditionInvalid(f"only {', '.join(_FUNCTIONS)} may be called")
        if node.keywords or not node.args:
            raise ConditionInvalid(f"{node.func.id} takes positional arguments only")
        if node.func.id == "sum" and len(node.args) > 1:
            # With a list to start from, it would take time in proportion to the square of its input.
            raise ConditionInvalid("sum takes one argument")
    elif isinstance(node, ast.Constant):
        if not isinstance(node.value, str | int | float | None):
            raise ConditionInvalid(f"a value of type {type(node.value).__name__} is not allowed")
    elif not isinstance(node, _ALLOWED):
        raise ConditionInvalid(f"{type(node).__name__} is not allowed; {_EXAMPLE}")


def _evaluate(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.BoolOp(op=operation, values=parts):
            result: Any = None
            for part in parts:
                result = _evaluate(part, names)
                if bool(result) is isinstance(operation, ast.Or):
                    break
            return result
        case ast.UnaryOp(op=operation, operand=operand):
            return _UNARY[type(operation)](_evaluate(operand, names))
        case ast.Compare(left=first, ops=comparisons, comparators=others):
            left = _evaluate(first, names)
            for comparison, other in zip(comparisons, others, strict=True):
                right = _evaluate(other, names)
                if not _COMPARE[type(comparison)](left, right):
                    return False
                left = right
            return True
        case ast.Subscript(value=container, slice=index):
            return _evaluate(container, names)[_evaluate(index, names)]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_evaluate(part, names) for part in parts]
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name](*(_evaluate(argument, names) for argument in arguments))
    raise ValueError(f"{type(node).__name__} is not allowed")


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    function.__name__: function for function in (abs, all, any, len, max, min, sum)
}
_UNARY: Final[dict[type[ast.unaryop], Callable[[Any], Any]]] = {ast.Not: operator.not_, ast.USub: operator.neg}
_COMPARE: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, container: operator.contains(container, item),
    ast.NotIn: lambda item, container: not operator.contains(container, item),
}
_ALLOWED: Final = (
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Compare, ast.Subscript, ast.List, ast.Tuple, *_UNARY, *_COMPARE,
)  # fmt: skip
