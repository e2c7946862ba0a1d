"""Arithmetic over metrics, read from text: ``365 * avg(AccountsPayable) / (CostOfRevenue + change(Inventory))``.

Formulas have numbers, metric words, ``+ - * /``, brackets and a few functions of periods.
Values are exact fractions with units. Other syntax, too much work and units that do not fit raise ParameterError;
a division by zero, or growth from zero, raises NotComputable.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice

from fingerpost.errors import ParameterError
from fingerpost.filings.concepts import RECIPE, Metric, find_metric

MAX_LENGTH = 500
MAX_YEARS = 20
DAYS = "days"

_FIELD = {"field": "expression"}
_MAX_NODES = 120
_YEAR_DAYS = 365
# A function of periods evaluates its argument several times; nested, they multiply.
_MAX_EVALUATIONS = 2_000
# No figure is larger, or closer to zero; a float holds every number within.
_LARGEST = 10**100
_WORDS = re.compile(r"[A-Za-z]\w*(?:(?: ?& ?| )[A-Za-z]\w*)+")
_TAG = re.compile(r"\b(?:us-gaap|ifrs-full|ifrs|dei|srt):[A-Za-z]\w*", re.IGNORECASE)
# Functions of periods, and the functions that they take: (minimum, maximum) of arguments.
FUNCTIONS: Mapping[str, tuple[int, int]] = {
    "avg": (1, 1),
    "change": (1, 1),
    "prior": (1, 1),
    "growth": (1, 1),
    "mean_of_years": (2, 2),
    "cagr": (2, 2),
    "abs": (1, 1),
    "min": (2, 5),
    "max": (2, 5),
}
_VOCABULARY = f"numbers, metric words, + - * / and {', '.join(FUNCTIONS)}"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit as powers, such as USD to 1 and shares to -1; a plain number has none."""

    value: Fraction
    unit: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        if self.value and not _LARGEST >= abs(self.value) >= Fraction(1, _LARGEST):
            raise NotComputable("a value in it is out of range")

    def with_value(self, value: Fraction) -> "Quantity":
        return Quantity(value, self.unit)


@dataclass(frozen=True, slots=True)
class Lookup:
    """An input of an expression: a metric word, ``back`` periods before the expression's own."""

    word: str
    back: int


class _Names(ast.NodeTransformer):
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


def read_formula(text: str) -> ast.expr:
    plain = re.sub(r"\s+", " ", text.replace("\u00d7", "*").replace("\u2212", "-").replace("\u00f7", "/")).strip()
    # A metric that is written in several words, or with "&", becomes one word.
    plain = _WORDS.sub(lambda words: metric.name if (metric := find_metric(words[0])) else words[0], plain)
    tags = {f"tag_{number}__": tag for number, tag in enumerate(dict.fromkeys(_TAG.findall(plain)))}
    names = {tag: name for name, tag in tags.items()}
    try:
        tree: ast.expr = _Names(tags).visit(ast.parse(_TAG.sub(lambda tag: names[tag[0]], plain), mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ParameterError(f"the expression cannot be read: {text!r}; write {_VOCABULARY}", _FIELD) from error
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise ParameterError("the expression has too many parts", _FIELD)
    _check(tree)
    return tree


def read_recipe(metric: Metric | None, text: str) -> ast.expr:
    """Return the formula of a recipe, or of another metric the formula that names it."""
    if metric is not None and metric.kind == RECIPE:
        return read_formula(metric.expression)
    return ast.Name(text, ast.Load())


def list_lookups(formula: ast.expr, back: int = 0, periods_a_year: int = 1) -> list[Lookup]:
    """Return the inputs of a formula, ``back`` periods before, in the order of their use."""
    visited = list(islice(_walk(formula, back, periods_a_year), _MAX_EVALUATIONS + 1))
    if len(visited) > _MAX_EVALUATIONS:
        raise ParameterError("the expression takes too much work: nest fewer functions of periods", _FIELD)
    words = ((node.id, at) for node, at in visited if isinstance(node, ast.Name) and node.id != DAYS)
    lookups = [Lookup(word, at) for word, at in dict.fromkeys(words)]
    if not lookups:
        raise ParameterError("the expression has no metric", _FIELD)
    return lookups


def unit_of(unit: str) -> tuple[tuple[str, int], ...]:
    """Return a figure's unit as powers: ``USD/shares`` is USD to the first, shares to the minus first."""
    over, _, under = unit.partition("/")
    powers = {over: 1} if over != "pure" else {}
    if under:
        powers[under] = powers.get(under, 0) - 1
    return tuple(sorted(powers.items()))


def unit_text(unit: tuple[tuple[str, int], ...]) -> str:
    if not unit:
        return "ratio"
    over = [name if power == 1 else f"{name}^{power}" for name, power in unit if power > 0]
    under = [name if power == -1 else f"{name}^{-power}" for name, power in unit if power < 0]
    return "*".join(over or ["1"]) + "".join(f"/{name}" for name in under)


def plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _check(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if not abs(number) <= _LARGEST:
                raise ParameterError("the expression has a number in it that is too large", _FIELD)
        case ast.Name() | ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            pass
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div()):
            pass
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            low, high = FUNCTIONS[name]
            if not low <= len(arguments) <= high:
                count = str(low) if low == high else f"{low} to {high}"
                raise ParameterError(f"{name} takes {count} arguments", _FIELD)
        case _:
            message = f"the expression contains {ast.unparse(node)!r}; it may contain {_VOCABULARY}"
            raise ParameterError(message, _FIELD)
    for part in dict.fromkeys(part for part, _ in _list_parts(node, 1)):
        _check(part)


def _years(node: ast.Call) -> int:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    years = node.args[1]
    if not isinstance(years, ast.Constant) or type(years.value) is not int or not 1 <= years.value <= MAX_YEARS:
        raise ParameterError(f"{name} takes a metric and a number of years, 1 to {MAX_YEARS}", _FIELD)
    return years.value


def _walk(node: ast.expr, back: int, periods_a_year: int) -> Iterator[tuple[ast.expr, int]]:
    yield node, back
    for part, earlier in _list_parts(node, periods_a_year):
        yield from _walk(part, back + earlier, periods_a_year)


def _list_parts(node: ast.expr, periods_a_year: int) -> list[tuple[ast.expr, int]]:
    """Return the operands of a node, and the number of periods back of each."""
    match node:
        case ast.UnaryOp(operand=operand):
            return [(operand, 0)]
        case ast.BinOp(left=left, right=right):
            return [(left, 0), (right, 0)]
        case ast.Call(func=ast.Name(id="abs" | "min" | "max"), args=arguments):
            return [(argument, 0) for argument in arguments]
        case ast.Call(func=ast.Name(id="prior"), args=[argument]):
            return [(argument, 1)]
        case ast.Call(func=ast.Name(id="mean_of_years"), args=[argument, _]):
            return [(argument, year * periods_a_year) for year in range(_years(node))]
        case ast.Call(func=ast.Name(id="cagr"), args=[argument, _]):
            return [(argument, 0), (argument, _years(node) * periods_a_year)]
        case ast.Call(args=[argument]):
            return [(argument, 0), (argument, 1)]
    return []


def evaluate(node: ast.expr, inputs: Mapping[Lookup, Quantity], back: int = 0, periods_a_year: int = 1) -> Quantity:
    parts = [
        evaluate(part, inputs, back + earlier, periods_a_year) for part, earlier in _list_parts(node, periods_a_year)
    ]
    match node:
        case ast.Constant(value=int() | float() as number):
            return Quantity(Fraction(str(number)))
        case ast.Name(id=word):
            return Quantity(Fraction(_YEAR_DAYS, periods_a_year)) if word == DAYS else inputs[Lookup(word, back)]
        case ast.UnaryOp(op=ast.USub()):
            return parts[0].with_value(-parts[0].value)
        case ast.UnaryOp():
            return parts[0]
        case ast.BinOp(op=ast.Add()):
            _check_same_unit(node, parts)
            return parts[0].with_value(parts[0].value + parts[1].value)
        case ast.BinOp(op=ast.Sub()):
            _check_same_unit(node, parts)
            return parts[0].with_value(parts[0].value - parts[1].value)
        case ast.BinOp(right=right, op=operator):
            if isinstance(operator, ast.Div) and parts[1].value == 0:
                raise NotComputable(f"{ast.unparse(right)} is zero, so nothing can be divided by it")
            return _multiply(parts[0], parts[1], -1 if isinstance(operator, ast.Div) else 1)
        case ast.Call(func=ast.Name(id=name)):
            return _call(node, name, parts)
    raise AssertionError(f"a part of an expression that was not checked: {ast.dump(node)}")


def _multiply(one: Quantity, two: Quantity, power: int) -> Quantity:
    units = dict(one.unit)
    for name, exponent in two.unit:
        units[name] = units.get(name, 0) + power * exponent
    unit = tuple(sorted((name, exponent) for name, exponent in units.items() if exponent))
    return Quantity(one.value * two.value**power, unit)


def _call(node: ast.Call, name: str, arguments: list[Quantity]) -> Quantity:
    now, before = arguments[0], arguments[-1]
    values = [argument.value for argument in arguments]
    match name:
        case "prior":
            return now
        case "abs":
            return now.with_value(abs(now.value))
        case "min" | "max":
            _check_same_unit(node, arguments)
            return now.with_value(min(values) if name == "min" else max(values))
        case "mean_of_years" | "avg":
            return now.with_value(sum(values, Fraction(0)) / len(values))
        case "change":
            return now.with_value(now.value - before.value)
    if before.value <= 0 or (name == "cagr" and now.value < 0):
        raise NotComputable(f"{ast.unparse(node.args[0])} was not positive: it has no rate of growth")
    ratio, years = now.value / before.value, _years(node) if name == "cagr" else 1
    if years == 1:
        return Quantity(ratio - 1)
    root = Decimal(ratio.numerator) / Decimal(ratio.denominator)
    return Quantity(Fraction(root ** (Decimal(1) / Decimal(years)) - 1))


def _check_same_unit(node: ast.expr, quantities: list[Quantity]) -> None:
    units = list(dict.fromkeys(quantity.unit for quantity in quantities))
    if len(units) > 1:
        joined = " and ".join(map(unit_text, units))
        raise ParameterError(f"{ast.unparse(node)} joins {joined}, which do not add up", _FIELD)
