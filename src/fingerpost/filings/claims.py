"""Whether a stated figure is true: read it from a sentence, look it up, compare at the claim's own precision."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fingerpost.errors import ParameterError
from fingerpost.filings.concepts import words_in
from fingerpost.filings.fact import Company
from fingerpost.filings.figure import Figure, View
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.questions import get_company
from fingerpost.filings.reasons import missing_figure, missing_metric
from fingerpost.filings.reply import Reply, nothing, source_of
from fingerpost.filings.rows import row_of
from fingerpost.filings.window import read_window

CONFIRMED, CONTRADICTED, STALE = "confirmed", "contradicted", "stale_vintage"

_SCALES = {
    "t": 12, "tn": 12, "trillion": 12, "b": 9, "bn": 9, "billion": 9,
    "m": 6, "mn": 6, "mm": 6, "million": 6, "k": 3, "thousand": 3,
}  # fmt: skip
_NUMBER = re.compile(
    r"(?P<lead>[-\u2212(]?)(?P<money>[$€£]|US\$|USD |EUR )?\s?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"\s?(?P<scale>trillion|billion|million|thousand|tn|bn|mn|mm|[tbmk])?\b",
    re.IGNORECASE,
)
_PERIODS = (
    re.compile(r"\b(?:fiscal |fy ?)?(?P<year>(?:19|20)\d\d)[- ]?(?P<quarter>q[1-4])\b", re.IGNORECASE),
    re.compile(r"\b(?P<quarter>q[1-4])(?: of)?(?: fiscal| fy)? ?(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE),
    re.compile(
        r"\b(?P<word>first|second|third|fourth)[- ]quarter(?: of)?(?: fiscal| fy)? ?(?P<year>(?:19|20)\d\d)\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:fiscal(?: year)? |fy ?)?(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE),
)
_QUARTER_WORDS = {"first": "Q1", "second": "Q2", "third": "Q3", "fourth": "Q4"}
_LEGAL_FORMS = re.compile(r"[,.]|\b(inc|corp|corporation|co|company|plc|ltd|holdings|group|the)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A stated figure; ``step`` is the value of its last stated digit."""

    ticker: str
    metric: str
    period: str
    value: Decimal
    step: Decimal


def read_claim(
    library: FactLibrary, text: str, ticker: str | None = None, metric: str | None = None, period: str | None = None
) -> Claim:
    """Return the claim that a sentence makes; what is given beside it need not stand in it.

    Raises:
        ParameterError: the company, the metric, the period or the number cannot be read.
    """
    rest, found_period = _take_period(text)
    period = period or found_period
    ticker = ticker or _find_ticker(library, rest)
    if metric is None:
        words = words_in(rest)
        metric = words[0][1].name if words else None
    number = _find_number(rest)
    parts = {"ticker": ticker, "metric": metric, "period": period, "claim": number}
    for name, part in parts.items():
        if part is None:
            what = {"ticker": "company", "metric": "metric", "period": "fiscal year or quarter", "claim": "number"}[
                name
            ]
            raise ParameterError(f"no {what} can be read from the claim; send {name}", {"field": name})
    assert ticker is not None
    assert metric is not None
    assert period is not None
    assert number is not None
    return Claim(ticker, metric, period, *number)


def verify_claim(library: FactLibrary, claim: Claim, view: View) -> Reply:
    """Return the verdict on a claim, with the figure that decides it.

    Raises:
        DataNotFound: there is no such figure.
    """
    nobody = f"No financial facts found for {claim.ticker}"
    company = get_company(library, claim.ticker, nobody)
    source = source_of(company)
    metric = library.find_metric(company, claim.metric)
    if metric is None:
        raise nothing(nobody, {claim.metric: missing_metric(library, company, claim.metric)}, source)
    window = read_window(None, None, claim.period)
    found = library.look(company, metric, window, view)
    if not found.is_scalar:
        raise nothing(nobody, {claim.metric: missing_figure(library, company, metric, window, view)}, source)
    figure = found.headline[0]
    verdict, told = _judge(claim, figure, company)
    data: dict[str, Any] = {
        "verdict": verdict,
        "claimed": _plain(claim.value),
        "value": figure.value,
        "difference": _plain(claim.value - Decimal(str(figure.value))),
        "tolerance": _plain(claim.step / 2),
    }
    reply = Reply([row_of(company, metric.name, figure, view)], data=data, source=source)
    reply.extra["explanation"] = told
    return reply


def _judge(claim: Claim, figure: Figure, company: Company) -> tuple[str, str]:
    fact = figure.fact
    cited = f"{company.name} states {figure.value} {figure.unit} in {fact.form} {fact.accession} of {fact.filed}"
    if _agrees(claim, figure.value):
        return CONFIRMED, f"{cited}, which the claim meets at its own precision"
    for revision in figure.values:
        if _agrees(claim, revision.value):
            then = f"{revision.fact.form} {revision.fact.accession} of {revision.fact.filed}"
            return STALE, f"{then} stated it so; since then {cited}"
    return CONTRADICTED, cited


def _agrees(claim: Claim, value: float) -> bool:
    return abs(claim.value - Decimal(str(value))) <= claim.step / 2


def _take_period(text: str) -> tuple[str, str | None]:
    for pattern in _PERIODS:
        if matched := pattern.search(text):
            groups = matched.groupdict()
            quarter = groups.get("quarter") or _QUARTER_WORDS.get((groups.get("word") or "").lower())
            rest = f"{text[: matched.start()]} {text[matched.end() :]}"
            return rest, matched["year"] + (f"-{quarter.upper()}" if quarter else "")
    return text, None


def _find_ticker(library: FactLibrary, text: str) -> str | None:
    words: list[str] = re.findall(r"[A-Za-z][A-Za-z.\-]*", text.replace("'s", " ").replace("\u2019s", " "))
    for company in library.list_companies():
        short = _LEGAL_FORMS.sub("", company.name).strip().lower()
        if short and re.search(rf"\b{re.escape(short)}\b", text.lower()):
            return company.ticker
    for word in words:
        if word.isupper() and word not in ("EPS", "EBIT", "US", "USD", "FY") and library.find_company(word):
            return word
    return None


def _find_number(text: str) -> tuple[Decimal, Decimal] | None:
    numbers = list(_NUMBER.finditer(text))
    # What bears a currency or a scale is the figure; else the last number is.
    marked = [number for number in numbers if number["money"] or number["scale"]]
    if not numbers:
        return None
    number = (marked or numbers)[-1]
    digits = Decimal(number["digits"].replace(",", ""))
    scale = Decimal(1).scaleb(_SCALES.get((number["scale"] or "").lower(), 0))
    exponent = int(digits.as_tuple().exponent)
    step = Decimal(1).scaleb(exponent) * scale
    value = digits * scale
    return (-value if number["lead"] else value), step


def _plain(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
