"""Arithmetic over metrics, read from text: ``365 * avg(AccountsPayable) / (CostOfRevenue + change(Inventory))``.

Numbers, metric words, ``+ - * /``, brackets and a few functions of periods; nothing else of Python is understood.
Values are exact fractions until they are told, and each bears its unit: what cannot be added is refused.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from fingerpost.errors import ParameterError
from fingerpost.filings.concepts import RECIPE, Metric, find_metric

MAX_LENGTH = 500
MAX_YEARS = 20
DAYS = "days"

_FIELD = {"field": "expression"}
_MAX_NODES = 120
# A function of periods evaluates its argument several times; nested, they multiply.
_MAX_EVALUATIONS = 2_000
# No figure is so far from one; numbers within stay JSON's and a float's.
_LARGEST = 10**100
_WORDS = re.compile(r"[A-Za-z]\w*(?:(?: ?& ?| )[A-Za-z]\w*)+")
_TAG = re.compile(r"\b(?:us-gaap|ifrs-full|ifrs|dei|srt):[A-Za-z]\w*", re.IGNORECASE)
_OPERATORS: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2}
_AFTER_MINUS = 3
# Functions of periods, and the functions that they take: (fewest, most) arguments.
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
_OF_YEARS = ("mean_of_years", "cagr")
_WHAT_THERE_IS = f"numbers, metric words, + - * / and {', '.join(FUNCTIONS)}"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit: powers of ``USD``, ``shares`` and the like; an empty unit is a plain number."""

    value: Fraction
    unit: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a value that no arithmetic over figures comes to."""
        if self.value and not _LARGEST >= abs(self.value) >= Fraction(1, _LARGEST):
            raise NotComputable("a value in it is too large or too small to be a figure")

    def with_value(self, value: Fraction) -> "Quantity":
        return Quantity(value, self.unit)


@dataclass(frozen=True, slots=True)
class Lookup:
    """What an expression asks of the filings: a metric word, so many periods before the one in question."""

    word: str
    back: int


@dataclass(slots=True)
class _Term:
    """A value, how it was computed with its numbers filled in, and how tightly that text binds."""

    quantity: Quantity
    text: str
    binding: int = _AFTER_MINUS


@dataclass(slots=True)
class Evaluation:
    """Values by look-up; what is asked for and not there is collected in ``missing``.

    ``days`` are those of the period, ``periods_a_year`` is 4 where it is a quarter.
    """

    find: Callable[[Lookup], Quantity | None]
    days: Fraction
    periods_a_year: int = 1
    asked: dict[Lookup, Quantity] = field(default_factory=dict)
    missing: list[Lookup] = field(default_factory=list)
    left: int = _MAX_EVALUATIONS


@dataclass(frozen=True, slots=True)
class Formula:
    """A checked expression."""

    text: str
    tree: ast.expr

    @property
    def words(self) -> list[str]:
        names = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        called = {node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        names.sort(key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        return list(dict.fromkeys(node.id for node in names if node not in called and node.id != DAYS))


class _Names(ast.NodeTransformer):
    """Puts tags in the place of what stood for them, and a recipe's expression in the place of its name."""

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
    """The inputs are there, and the arithmetic cannot be done with them: why."""


class _Missing(Exception):
    """A value that is needed is not there; which one was noted."""


def read_formula(text: str) -> Formula:
    """Return an expression, checked: every part of it is understood. Recipes may stand in it by their names.

    Raises:
        ParameterError: it is too long, or holds something that is not understood.
    """
    if len(text) > MAX_LENGTH:
        raise ParameterError(f"the expression is longer than {MAX_LENGTH} characters", _FIELD)
    plain = re.sub(r"\s+", " ", text.replace("\u00d7", "*").replace("\u2212", "-").replace("\u00f7", "/")).strip()
    # A metric that is written in several words, or with "&", becomes one word.
    plain = _WORDS.sub(lambda words: metric.name if (metric := find_metric(words[0])) else words[0], plain)
    tags = {f"tag_{number}__": tag for number, tag in enumerate(dict.fromkeys(_TAG.findall(plain)))}
    names = {tag: name for name, tag in tags.items()}
    try:
        tree = _Names(tags).visit(ast.parse(_TAG.sub(lambda tag: names[tag[0]], plain), mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ParameterError(f"the expression cannot be read: {text!r}; write {_WHAT_THERE_IS}", _FIELD) from error
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise ParameterError("the expression has too many parts", _FIELD)
    _check(tree)
    return Formula(plain, tree)


def formula_of(metric: Metric | None, text: str) -> Formula:
    """Return the formula of one metric: a recipe's expression, else the word itself, which may be any tag."""
    if metric is not None and metric.kind == RECIPE:
        return read_formula(metric.expression)
    return Formula(text, ast.Name(text, ast.Load()))


def evaluate(formula: Formula, evaluation: Evaluation, back: int = 0) -> tuple[Quantity, str] | None:
    """Return the value and the formula as filled in, of the period so many (``back``) before.

    None if an input is missing (see ``evaluation.missing``).

    Raises:
        NotComputable: something is divided by zero, or grows from nothing.
        ParameterError: units do not fit.
    """
    try:
        term = _value(formula.tree, evaluation, back)
    except _Missing:
        return None
    return term.quantity, term.text


def unit_of(unit: str) -> tuple[tuple[str, int], ...]:
    """Return a figure's unit as powers: ``USD/shares`` is USD to the first, shares to the minus first."""
    over, _, under = unit.partition("/")
    powers = {over: 1} if over != "pure" else {}
    if under:
        powers[under] = powers.get(under, 0) - 1
    return tuple(sorted(powers.items()))


def unit_text(unit: tuple[tuple[str, int], ...]) -> str:
    """Return a unit as an answer shows it; a plain number is a ``ratio``."""
    if not unit:
        return "ratio"
    over = [name if power == 1 else f"{name}^{power}" for name, power in unit if power > 0]
    under = [name if power == -1 else f"{name}^{-power}" for name, power in unit if power < 0]
    return "*".join(over or ["1"]) + "".join(f"/{name}" for name in under)


def plain(value: Fraction) -> int | float:
    """Return a fraction as the nearest number that JSON can hold."""
    return int(value) if value.denominator == 1 else float(value)


def _check(node: ast.expr) -> None:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            if not abs(number) <= _LARGEST:
                raise ParameterError("the expression has a number in it that is too large", _FIELD)
            return
        case ast.Name():
            return
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand)
            return
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            _check(left)
            _check(right)
            return
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            fewest, most = FUNCTIONS[name]
            if not fewest <= len(arguments) <= most:
                wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
                raise ParameterError(f"{name} takes {wanted} arguments", _FIELD)
            if name in _OF_YEARS:
                _years(node)
                arguments = arguments[:1]
            for argument in arguments:
                _check(argument)
            return
    raise ParameterError(f"the expression has {ast.unparse(node)!r} in it; it may have {_WHAT_THERE_IS}", _FIELD)


def _years(node: ast.Call) -> int:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    years = node.args[1]
    if not isinstance(years, ast.Constant) or type(years.value) is not int or not 1 <= years.value <= MAX_YEARS:
        raise ParameterError(f"{name} takes a metric and a number of years, 1 to {MAX_YEARS}", _FIELD)
    return years.value


def _value(node: ast.expr, evaluation: Evaluation, back: int) -> _Term:
    evaluation.left -= 1
    if evaluation.left < 0:
        raise ParameterError("the expression takes too much work: nest fewer functions of periods", _FIELD)
    match node:
        case ast.Constant(value=number):
            assert isinstance(number, int | float)
            return _Term(Quantity(Fraction(str(number))), str(number))
        case ast.Name(id=word):
            return _look_up(word, evaluation, back)
        case ast.UnaryOp(op=operator, operand=operand):
            inner = _value(operand, evaluation, back)
            if isinstance(operator, ast.UAdd):
                return inner
            return _Term(inner.quantity.with_value(-inner.quantity.value), f"-{_bracketed(inner, _AFTER_MINUS)}", 1)
        case ast.BinOp(left=left, op=operator, right=right):
            return _combined(node, left, _OPERATORS[type(operator)], right, evaluation, back)
        case ast.Call():
            return _called(node, evaluation, back)
    raise AssertionError(f"a part of an expression that was not checked: {ast.dump(node)}")


def _look_up(word: str, evaluation: Evaluation, back: int) -> _Term:
    if word == DAYS:
        return _Term(Quantity(evaluation.days), str(plain(evaluation.days)))
    lookup = Lookup(word, back)
    if lookup not in evaluation.asked:
        found = evaluation.find(lookup)
        if found is None:
            if lookup not in evaluation.missing:
                evaluation.missing.append(lookup)
            raise _Missing
        evaluation.asked[lookup] = found
    quantity = evaluation.asked[lookup]
    text = str(plain(quantity.value))
    return _Term(quantity, f"({text})" if quantity.value < 0 else text)


def _both(first: tuple[ast.expr, int], second: tuple[ast.expr, int], evaluation: Evaluation) -> tuple[_Term, _Term]:
    """Return two values; where one is missing the other is still asked for, so that all that is missing is told."""
    try:
        left = _value(first[0], evaluation, first[1])
    except _Missing:
        _value(second[0], evaluation, second[1])
        raise
    return left, _value(second[0], evaluation, second[1])


def _combined(node: ast.expr, left: ast.expr, sign: str, right: ast.expr, evaluation: Evaluation, back: int) -> _Term:
    one, two = _both((left, back), (right, back), evaluation)
    binding = _BINDING[sign]
    text = f"{_bracketed(one, binding)} {sign} {_bracketed(two, binding + (sign in '-/'))}"
    if sign in "+-":
        _check_same_unit(one.quantity, two.quantity, ast.unparse(node))
        other = two.quantity.value if sign == "+" else -two.quantity.value
        return _Term(one.quantity.with_value(one.quantity.value + other), text, binding)
    power = 1 if sign == "*" else -1
    if power < 0 and two.quantity.value == 0:
        raise NotComputable(f"{ast.unparse(right)} is zero, and something is divided by it")
    units = dict(one.quantity.unit)
    for name, exponent in two.quantity.unit:
        units[name] = units.get(name, 0) + power * exponent
    unit = tuple(sorted((name, exponent) for name, exponent in units.items() if exponent))
    return _Term(Quantity(one.quantity.value * two.quantity.value**power, unit), text, binding)


def _called(node: ast.Call, evaluation: Evaluation, back: int) -> _Term:
    assert isinstance(node.func, ast.Name)
    name, argument = node.func.id, node.args[0]
    if name == "prior":
        return _value(argument, evaluation, back + 1)
    if name == "abs":
        inner = _value(argument, evaluation, back)
        return _Term(inner.quantity.with_value(abs(inner.quantity.value)), f"abs({inner.text})")
    if name in ("min", "max"):
        return _extreme(node, name, evaluation, back)
    if name in _OF_YEARS:
        return _of_years(node, name, _years(node), evaluation, back)
    now, before = _both((argument, back), (argument, back + 1), evaluation)
    difference = now.quantity.value - before.quantity.value
    text = f"{_bracketed(now, 1)} - {_bracketed(before, 2)}"
    if name == "change":
        return _Term(now.quantity.with_value(difference), text, 1)
    if name == "growth":
        if before.quantity.value <= 0:
            raise NotComputable(f"{ast.unparse(argument)} was not positive: it has no rate of growth")
        return _Term(Quantity(difference / before.quantity.value), f"({text}) / {_bracketed(before, 3)}", 2)
    mean = (now.quantity.value + before.quantity.value) / 2
    return _Term(now.quantity.with_value(mean), f"({_bracketed(before, 1)} + {_bracketed(now, 1)}) / 2", 2)


def _extreme(node: ast.Call, name: str, evaluation: Evaluation, back: int) -> _Term:
    values = [_value(argument, evaluation, back) for argument in node.args]
    for other in values[1:]:
        _check_same_unit(values[0].quantity, other.quantity, ast.unparse(node))
    chosen = (min if name == "min" else max)(term.quantity.value for term in values)
    return _Term(values[0].quantity.with_value(chosen), f"{name}({', '.join(term.text for term in values)})")


def _of_years(node: ast.Call, name: str, years: int, evaluation: Evaluation, back: int) -> _Term:
    argument = node.args[0]
    if name == "cagr":
        now, before = _both((argument, back), (argument, back + years * evaluation.periods_a_year), evaluation)
        if before.quantity.value <= 0 or now.quantity.value < 0:
            raise NotComputable(f"{ast.unparse(argument)} was not positive: it has no rate of growth")
        ratio = now.quantity.value / before.quantity.value
        root = Decimal(ratio.numerator) / Decimal(ratio.denominator)
        rate = Fraction(root ** (Decimal(1) / Decimal(years)) - 1) if years > 1 else ratio - 1
        text = f"({_bracketed(now, 2)} / {_bracketed(before, 3)}) ^ (1 / {years}) - 1"
        return _Term(Quantity(rate), text, 1)
    term, is_missing = [], False
    for year in range(years):
        try:
            term.append(_value(argument, evaluation, back + year * evaluation.periods_a_year))
        except _Missing:
            is_missing = True
    if is_missing:
        raise _Missing
    total = sum((each.quantity.value for each in term), Fraction(0))
    text = " + ".join(_bracketed(each, 1) for each in reversed(term))
    return _Term(term[0].quantity.with_value(total / years), f"({text}) / {years}", 2)


def _check_same_unit(one: Quantity, other: Quantity, text: str) -> None:
    if one.unit != other.unit:
        units = f"{unit_text(one.unit)} and {unit_text(other.unit)}"
        raise ParameterError(f"{text} joins {units}, which do not add up", _FIELD)


def _bracketed(term: _Term, binding: int) -> str:
    return f"({term.text})" if term.binding < binding else term.text
