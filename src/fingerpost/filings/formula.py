"""Parse and evaluate arithmetic over metrics: ``365 * avg(AccountsPayable) / (CostOfRevenue + change(Inventory))``.

Formulas contain numbers, metric names, ``+ - * /``, parentheses and period functions. Values are exact fractions
with units. Other syntax, too many evaluations and incompatible units raise ParameterError; division by zero and growth
from zero or a negative value raise NotComputable.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from fingerpost.errors import ParameterError
from fingerpost.filings.concepts import RECIPE, find_metric

MAX_LENGTH = 500
MAX_YEARS = 20
DAYS = "days"
# Every expression other than a bare name contains at least one of these.
OPERATORS = "+-*/\u00d7\u2212\u00f7("

_FIELD = {"field": "expression"}
_MAX_NODES = 120
_YEAR_DAYS = 365
# Period functions evaluate their argument several times, so nesting multiplies the work.
_MAX_EVALUATIONS = 2_000
# Absolute values other than 0 must be between 1 / this limit and this limit, so that floats cannot overflow.
_MAX_VALUE = 10**100
_WORDS = re.compile(r"[A-Za-z]\w*(?:(?: ?& ?| )[A-Za-z]\w*)+")
_TAG = re.compile(r"\b(?:us-gaap|ifrs-full|ifrs|dei|srt):[A-Za-z]\w*", re.IGNORECASE)
# The period functions, each with its number of arguments.
FUNCTIONS: Mapping[str, int] = {"avg": 1, "change": 1, "prior": 1, "growth": 1, "mean_of_years": 2, "cagr": 2}
_VOCABULARY = f"numbers, metric names, + - * / and {', '.join(FUNCTIONS)}"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit as powers, such as USD: 1 and shares: -1; the unit of a plain number is empty."""

    value: Fraction
    unit: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        if self.value and not _MAX_VALUE >= abs(self.value) >= Fraction(1, _MAX_VALUE):
            raise NotComputable("an intermediate value is out of range")

    @classmethod
    def parse(cls, value: float, unit: str) -> "Quantity":
        """Return a figure's value with its unit as powers: ``USD/shares`` becomes USD: 1 and shares: -1."""
        numerator, _, denominator = unit.partition("/")
        powers = {numerator: 1} if numerator != "pure" else {}
        if denominator:
            powers[denominator] = powers.get(denominator, 0) - 1
        return cls(Fraction(str(value)), tuple(sorted(powers.items())))

    @property
    def unit_name(self) -> str:
        if not self.unit:
            return "ratio"
        numerator = [name if power == 1 else f"{name}^{power}" for name, power in self.unit if power > 0]
        denominator = [name if power == -1 else f"{name}^{-power}" for name, power in self.unit if power < 0]
        return "*".join(numerator or ["1"]) + "".join(f"/{name}" for name in denominator)

    def with_value(self, value: Fraction) -> "Quantity":
        return Quantity(value, self.unit)


class Lookup(NamedTuple):
    """An input to an expression: a metric, ``lag`` periods before the expression's period."""

    name: str
    lag: int


class _NameResolver(ast.NodeTransformer):
    def __init__(self, tags: Mapping[str, str]) -> None:
        self._tags = tags

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._tags:
            return ast.copy_location(ast.Name(self._tags[node.id], ast.Load()), node)
        metric = find_metric(node.id)
        if metric is None or metric.kind != RECIPE:
            return node
        return ast.parse(metric.expression, mode="eval").body


class NotComputable(Exception):
    """The inputs exist, but the formula has no value for them."""


@lru_cache(maxsize=128)
def read_formula(text: str) -> ast.expr:
    """Parse a formula; callers must not modify the result, because it is cached."""
    normalized = re.sub(r"\s+", " ", text.replace("\u00d7", "*").replace("\u2212", "-").replace("\u00f7", "/")).strip()
    # Replace a metric name that has several words or an "&" with its one-word name.
    normalized = _WORDS.sub(lambda words: metric.name if (metric := find_metric(words[0])) else words[0], normalized)
    tags = {f"tag_{number}__": tag for number, tag in enumerate(dict.fromkeys(_TAG.findall(normalized)))}
    names = {tag: name for name, tag in tags.items()}
    try:
        parsed = ast.parse(_TAG.sub(lambda tag: names[tag[0]], normalized), mode="eval").body
        tree: ast.expr = _NameResolver(tags).visit(parsed)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ParameterError(f"the expression cannot be parsed: {text!r}; use {_VOCABULARY}", _FIELD) from error
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise ParameterError("the expression has too many terms", _FIELD)
    _check_syntax(tree)
    return tree


def list_lookups(formula: ast.expr, lag: int = 0, periods_per_year: int = 1) -> list[Lookup]:
    """Return, in order of use, the inputs of a formula that is evaluated ``lag`` periods earlier."""
    visited = list(islice(_walk(formula, lag, periods_per_year), _MAX_EVALUATIONS + 1))
    if len(visited) > _MAX_EVALUATIONS:
        raise ParameterError("the expression needs too many evaluations: nest fewer period functions", _FIELD)
    names = ((node.id, total_lag) for node, total_lag in visited if isinstance(node, ast.Name) and node.id != DAYS)
    lookups = [Lookup(name, total_lag) for name, total_lag in dict.fromkeys(names)]
    if not lookups:
        raise ParameterError("the expression contains no metric", _FIELD)
    return lookups


def to_number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _check_syntax(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if not abs(number) <= _MAX_VALUE:
                raise ParameterError("the expression contains a number that is too large", _FIELD)
        case ast.Name() | ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            pass
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div()):
            pass
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            if len(arguments) != FUNCTIONS[name]:
                message = f"wrong number of arguments for {name}: {len(arguments)} instead of {FUNCTIONS[name]}"
                raise ParameterError(message, _FIELD)
        case _:
            message = f"the expression contains {ast.unparse(node)!r}; it may contain {_VOCABULARY}"
            raise ParameterError(message, _FIELD)
    for part in dict.fromkeys(part for part, _ in _list_parts(node, 1)):
        _check_syntax(part)


def _parse_years(node: ast.Call) -> int:
    years = node.args[1]
    if not isinstance(years, ast.Constant) or type(years.value) is not int or not 1 <= years.value <= MAX_YEARS:
        raise ParameterError(f"{ast.unparse(node.func)} takes a metric and a number of years, 1 to {MAX_YEARS}", _FIELD)
    return years.value


def _walk(node: ast.expr, lag: int, periods_per_year: int) -> Iterator[tuple[ast.expr, int]]:
    yield node, lag
    for part, extra_lag in _list_parts(node, periods_per_year):
        yield from _walk(part, lag + extra_lag, periods_per_year)


def _list_parts(node: ast.expr, periods_per_year: int) -> list[tuple[ast.expr, int]]:
    """Return the operands of a node, each with its lag in periods."""
    match node:
        case ast.UnaryOp(operand=operand):
            return [(operand, 0)]
        case ast.BinOp(left=left, right=right):
            return [(left, 0), (right, 0)]
        case ast.Call(func=ast.Name(id="prior"), args=[argument]):
            return [(argument, 1)]
        case ast.Call(func=ast.Name(id="mean_of_years"), args=[argument, _]):
            return [(argument, year * periods_per_year) for year in range(_parse_years(node))]
        case ast.Call(func=ast.Name(id="cagr"), args=[argument, _]):
            return [(argument, 0), (argument, _parse_years(node) * periods_per_year)]
        case ast.Call(args=[argument]):
            return [(argument, 0), (argument, 1)]
    return []


def evaluate(node: ast.expr, inputs: Mapping[Lookup, Quantity], lag: int = 0, periods_per_year: int = 1) -> Quantity:
    parts = [
        evaluate(part, inputs, lag + extra_lag, periods_per_year)
        for part, extra_lag in _list_parts(node, periods_per_year)
    ]
    match node:
        case ast.Constant(value=int() | float() as number):
            return Quantity(Fraction(str(number)))
        case ast.Name(id=word):
            return Quantity(Fraction(_YEAR_DAYS, periods_per_year)) if word == DAYS else inputs[Lookup(word, lag)]
        case ast.UnaryOp(op=operator):
            return parts[0].with_value(-parts[0].value if isinstance(operator, ast.USub) else parts[0].value)
        case ast.BinOp(op=ast.Add() | ast.Sub() as operator):
            if parts[0].unit != parts[1].unit:
                units = f"{parts[0].unit_name} and {parts[1].unit_name}"
                raise ParameterError(f"{ast.unparse(node)} combines {units}, which are different units", _FIELD)
            addend = -parts[1].value if isinstance(operator, ast.Sub) else parts[1].value
            return parts[0].with_value(parts[0].value + addend)
        case ast.BinOp(right=right, op=operator):
            if isinstance(operator, ast.Div) and parts[1].value == 0:
                raise NotComputable(f"{ast.unparse(right)} is zero, so the division is undefined")
            return _multiply(parts[0], parts[1], -1 if isinstance(operator, ast.Div) else 1)
        case ast.Call(func=ast.Name(id=name)):
            return _evaluate_call(node, name, parts)
    raise AssertionError(f"unvalidated expression node: {ast.dump(node)}")


def _multiply(left: Quantity, right: Quantity, power: int) -> Quantity:
    units = dict(left.unit)
    for name, exponent in right.unit:
        units[name] = units.get(name, 0) + power * exponent
    unit = tuple(sorted((name, exponent) for name, exponent in units.items() if exponent))
    return Quantity(left.value * right.value**power, unit)


def _evaluate_call(node: ast.Call, name: str, arguments: list[Quantity]) -> Quantity:
    current, earlier_quantity = arguments[0], arguments[-1]
    values = [argument.value for argument in arguments]
    match name:
        case "prior":
            return current
        case "mean_of_years" | "avg":
            return current.with_value(sum(values, Fraction(0)) / len(values))
        case "change":
            return current.with_value(current.value - earlier_quantity.value)
    if earlier_quantity.value <= 0 or (name == "cagr" and current.value < 0):
        raise NotComputable(f"{ast.unparse(node.args[0])} was not positive, so the growth rate is undefined")
    ratio = current.value / earlier_quantity.value
    years = _parse_years(node) if name == "cagr" else 1
    if years == 1:
        return Quantity(ratio - 1)
    base = Decimal(ratio.numerator) / Decimal(ratio.denominator)
    return Quantity(Fraction(base ** (Decimal(1) / Decimal(years)) - 1))
