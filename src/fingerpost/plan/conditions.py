"""Conditions: a subset of Python's expressions over JSON values, evaluated on the syntax tree and never by ``eval``.

An expression has no attributes, loops or arithmetic, and may call a few functions. Length, depth and work are bounded.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

MAX_CHARS: Final = 500
MAX_DEPTH: Final = 20
MAX_WORK: Final = 500_000

OWN_NAMES: Final = ("memory", "results", "value")

_EXAMPLE = "write it like value is not None, len(results) > 0 or value['total'] >= 1"


class ConditionInvalid(ValueError):
    """The text is not a valid condition."""


class ConditionFailed(ValueError):
    """A valid condition that cannot be evaluated: wrong types, or too much work."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A valid condition; ``keys`` are the memory keys that it names by a constant, as in ``memory["trip"]``."""

    text: str
    keys: frozenset[str]

    def is_true(self, names: Mapping[str, Any]) -> bool:
        try:
            # Parsed for each evaluation, because hundreds of trees would slow the garbage collector.
            return bool(_Evaluation(names).of(_parse(self.text)))
        except (TypeError, ValueError, ArithmeticError, LookupError) as error:
            if isinstance(error, ConditionFailed):
                raise
            reason = f"there is no {error}" if isinstance(error, LookupError) else str(error)
            raise ConditionFailed(reason) from error


def compile_condition(text: str, key: str | None) -> Condition:
    """Return a condition over ``value``, ``results``, ``memory`` and the key, or raise ConditionInvalid."""
    names = (*OWN_NAMES, key) if key is not None and key.isidentifier() and key not in OWN_NAMES else OWN_NAMES
    if len(text) > MAX_CHARS:
        raise ConditionInvalid(f"it has {len(text)} characters, and may have {MAX_CHARS}")
    try:
        root = _parse(text)
    except SyntaxError as error:
        raise ConditionInvalid(f"syntax error at column {error.offset or 1}; {_EXAMPLE}") from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise ConditionInvalid(
            "it is nested too deeply, or contains a number or a character that cannot be read"
        ) from error
    keys: set[str] = set()
    level: list[ast.AST] = [root]
    for _ in range(MAX_DEPTH):
        below: list[ast.AST] = []
        for node in level:
            _refuse(node, names)
            match node:
                case ast.Subscript(value=ast.Name(id="memory"), slice=ast.Constant(value=str(key))):
                    keys.add(key)
            below += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]
            if isinstance(node, ast.Call):
                below.remove(node.func)
        if not below:
            return Condition(text, frozenset(keys))
        level = below
    raise ConditionInvalid(f"it is nested more than {MAX_DEPTH} deep")


def _parse(text: str) -> ast.expr:
    with warnings.catch_warnings():
        # Python warns of unknown escapes in a text.
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval").body


def _refuse(node: ast.AST, names: tuple[str, ...]) -> None:
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ConditionInvalid(f"unknown name {node.id!r}; known are {', '.join(names)}")
    elif isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS:
            raise ConditionInvalid(f"only {', '.join(_FUNCTIONS)} may be called")
        if node.keywords or not node.args:
            raise ConditionInvalid(f"{node.func.id} takes plain arguments only")
    elif isinstance(node, ast.Constant):
        if not isinstance(node.value, str | int | float | None):
            raise ConditionInvalid(f"a {type(node.value).__name__} is not allowed")
    elif not isinstance(node, _ALLOWED):
        raise ConditionInvalid(f"{type(node).__name__} is not allowed; {_EXAMPLE}")


class _Evaluation:
    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._left = MAX_WORK

    def of(self, node: ast.expr) -> Any:
        self._left -= 1
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._names[name]
            case ast.BoolOp(op=sign, values=parts):
                found: Any = None
                for part in parts:
                    found = self.of(part)
                    if bool(found) is isinstance(sign, ast.Or):
                        break
                return found
            case ast.UnaryOp(op=sign, operand=operand):
                return _UNARY[type(sign)](self.of(operand))
            case ast.Compare():
                return self._compare(node)
            case ast.Subscript(value=inner, slice=place):
                return self.of(inner)[self.of(place)]
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self.of(part) for part in parts]
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, [self.of(argument) for argument in arguments])
        raise ConditionFailed(f"{type(node).__name__} is not allowed")

    def _compare(self, node: ast.Compare) -> bool:
        left = self.of(node.left)
        for sign, part in zip(node.ops, node.comparators, strict=True):
            right = self.of(part)
            self._estimate_size(left)
            self._estimate_size(right)
            if not _COMPARE[type(sign)](left, right):
                return False
            left = right
        return True

    def _call(self, name: str, arguments: list[Any]) -> Any:
        if name != "len":
            for argument in arguments:
                self._estimate_size(argument)
        return _FUNCTIONS[name](*arguments)

    def _estimate_size(self, value: Any) -> None:
        level = [value]
        while level and self._left > 0:
            below: list[Any] = []
            for item in level:
                self._left -= 1
                if isinstance(item, str):
                    self._left -= len(item) // 64
                elif isinstance(item, dict | list):
                    self._left -= len(item)
                    if self._left <= 0:
                        break
                    below.extend(item.values() if isinstance(item, dict) else item)
            level = below
        if self._left <= 0:
            raise ConditionFailed("it takes too much work for values of this size")


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "abs": abs,
    "all": all,
    "any": any,
    "len": len,
    "max": max,
    "min": min,
    "sum": sum,
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
