"""The words of a claim: companies, metrics, periods, amounts, and what is said of them.

Each word of a sentence becomes one token, whose ``kind`` is a letter, so that a clause can be matched as text:

C company, M metric, P fiscal period, A amount, R percentage, V "was", N "not", o "of", i "in", f "from", t "to",
b "by", a "and", h "than", d a dash of a range, B "between", U "grew", D "fell", y "year over year",
> "exceeded", g "at least", < "below", l "at most", L "reached", ~ "about", r "respectively", "," a comma, ? unknown.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from fingerpost.contract.company_names import WELL_KNOWN, name_key
from fingerpost.filings.concepts import Metric, find_metric, list_metrics

UNKNOWN = "?"

_SCALES = {
    "t": 12, "tn": 12, "trillion": 12, "b": 9, "bn": 9, "billion": 9,
    "m": 6, "mn": 6, "mm": 6, "million": 6, "k": 3, "thousand": 3,
}  # fmt: skip
# A sign of money, and the currencies that it may stand for.
CURRENCIES: Mapping[str, frozenset[str]] = {
    "$": frozenset({"USD"}), "us$": frozenset({"USD"}), "dollars": frozenset({"USD"}), "dollar": frozenset({"USD"}),
    "us dollars": frozenset({"USD"}), "u.s. dollars": frozenset({"USD"}),
    "c$": frozenset({"CAD"}), "ca$": frozenset({"CAD"}), "a$": frozenset({"AUD"}), "hk$": frozenset({"HKD"}),
    "nt$": frozenset({"TWD"}), "r$": frozenset({"BRL"}), "€": frozenset({"EUR"}), "euro": frozenset({"EUR"}),
    "euros": frozenset({"EUR"}), "£": frozenset({"GBP"}), "pounds": frozenset({"GBP"}),
    "¥": frozenset({"JPY", "CNY"}), "yen": frozenset({"JPY"}), "yuan": frozenset({"CNY"}),
    "renminbi": frozenset({"CNY"}), "rmb": frozenset({"CNY"}), "₹": frozenset({"INR"}), "rupees": frozenset({"INR"}),
    "₩": frozenset({"KRW"}), "won": frozenset({"KRW"}), "francs": frozenset({"CHF"}),
}  # fmt: skip
# Dollars and their like are not told apart by the sign: a company that reports in one of these may mean its own.
SIGN_SHARED: Mapping[str, frozenset[str]] = {
    "USD": frozenset({"CAD", "AUD", "HKD", "TWD", "SGD", "NZD", "MXN"}),
    "CHF": frozenset({"XOF", "XAF"}),
}
_CODES = (
    "USD", "EUR", "GBP", "JPY", "CNY", "CAD", "AUD", "CHF", "INR", "KRW", "TWD", "HKD", "BRL", "SEK", "NOK", "DKK",
    "MXN", "SGD", "NZD", "ZAR", "ILS", "PLN", "TRY", "ARS", "CLP", "COP", "PEN",
)  # fmt: skip
SHARES = "shares"

_PHRASES: Mapping[str, str] = {
    "V": "was|were|is|are|had|has|reported|posted|recorded|generated|booked|totaled|totalled|totaling|totalling|"
    "equaled|equalled|amounted to|came to|came in at|stood at|:|=",
    "L": "reached|reach|hit",
    "N": "did not|was not|were not|is not|are not|had not|has not|does not|not",
    ">": "more than|over|above|greater than|higher than|larger than|exceeded|exceeding|exceeds|exceed|surpassed|"
    "surpass|topped|in excess of",
    "g": "at least|no less than|not less than|no fewer than",
    "<": "less than|under|below|fewer than|lower than|smaller than|fell short of|fall short of",
    "l": "at most|no more than|not more than|up to",
    "~": "about|approximately|approx.|around|roughly|nearly|almost|some|circa|close to",
    "B": "between",
    "U": "grew|grow|rose|rise|increased|increase|climbed|climb|jumped|surged|advanced|up",
    "D": "fell|fall|declined|decline|decreased|decrease|dropped|drop|shrank|shrink|slid|slipped|down",
    "y": "year over year|year-over-year|year on year|year-on-year|yoy|y/y|from a year earlier|from a year ago|"
    "from the year before|from the prior year|from the previous year|over the prior year|over the previous year|"
    "compared with the prior year|compared to the prior year|compared with the previous year|"
    "compared to the previous year|versus the prior year",
    "b": "by",
    "t": "to",
    "f": "from",
    "i": "in|for|during|at",
    "o": "of",
    "a": "and|but|while|whereas|;|&",
    "h": "than",
    "r": "respectively",
    ",": ",",
    "": "the|a|an|its|their|it|they|also|fiscal year|year",
}
_WITH_NOT = {"was not": "V", "were not": "V", "is not": "V", "are not": "V", "had not": "", "has not": ""}
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_COUNTED = r"%|percent|per cent|trillion|billion|million|thousand|[tbm]n\b|shares|dollars|euros|pounds|yen"
_FISCAL = r"(?P<fiscal>fiscal(?: year)? |fy ?)"
_PERIODS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_FISCAL}?(?P<year>(?:19|20)\d\d)[- ]?q(?P<quarter>[1-4])\b",
        rf"\bq(?P<quarter>[1-4])(?: of)?(?: the)? ?{_FISCAL}?(?P<year>(?:19|20)\d\d)\b",
        rf"\b(?P<word>first|second|third|fourth)[- ]quarter(?: of)?(?: the)? ?{_FISCAL}?(?P<year>(?:19|20)\d\d)\b",
        rf"\b{_FISCAL}(?P<year>(?:19|20)\d\d)\b",
        r"\b(?P<fiscal>fy)'?(?P<short>\d\d)\b",
        rf"\b(?P<year>(?:19|20)\d\d)\b(?![.,]\d|\s?(?:{_COUNTED}))",
    )
)
_UNITS = "|".join(sorted((re.escape(each) for each in [*CURRENCIES, *_CODES] if each[0].isalpha()), key=len)[::-1])
_SIGNS = "|".join(sorted((re.escape(each) for each in [*CURRENCIES] if not each[-1].isalpha()), key=len)[::-1])
_DIGITS = r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_PERCENT = re.compile(rf"(?P<minus>[-\u2212]?){_DIGITS}\s?(?:%|percent\b|per cent\b|pct\b)", re.IGNORECASE)
_AMOUNT = re.compile(
    rf"(?P<minus>[-\u2212]?)(?P<open>\(?)(?:(?P<sign>{_SIGNS})|(?P<code>\b(?:{'|'.join(_CODES)})))?\s?{_DIGITS}(?![\d])"
    r"(?:\s?(?P<scale>trillion|billion|million|thousand|tn|bn|mn|mm|[tbmk])\b)?(?P<close>\)?)"
    rf"(?:\s(?P<unit>(?:{_UNITS}|shares))\b)?(?P<each>\s?(?:per|a|each)[ -]share\b|\s?/\s?share\b)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s,;:]+")
_NAME = re.compile(r"[A-Z0-9][\w&.'\u2019-]*")
_NAME_WORDS = 6
_NOT_AT_AN_EDGE = frozenset({"and", "the", "de", "new", "&"})
# Capital letters that are words of finance before they are anybody's ticker.
_NO_TICKERS = frozenset({"EPS", "EBIT", "EBITDA", "US", "USD", "FY", "CEO", "CFO", "R", "D", "A", "I", *_CODES})
_LOSSES: Mapping[str, str] = {"net loss": "NetIncome", "operating loss": "OperatingIncome", "loss": "NetIncome"}


class Amount(NamedTuple):
    """A stated number; ``step`` is the value of its last stated digit, ``currencies`` what its sign may stand for.

    ``scale`` is the power of ten that a word such as "billion" gave it.
    """

    value: Decimal
    step: Decimal
    currencies: frozenset[str] | None = None
    is_shares: bool = False
    is_per_share: bool = False
    scale: int = 0


class Period(NamedTuple):
    """A year, and perhaps its quarter; ``is_fiscal`` where it is called so."""

    year: int
    quarter: int | None
    is_fiscal: bool

    @property
    def text(self) -> str:
        """The period as a question's parameter."""
        return f"{self.year}-Q{self.quarter}" if self.quarter else str(self.year)


class Measure(NamedTuple):
    """A metric; ``sign`` is -1 where the sentence names its loss."""

    metric: Metric
    sign: int = 1


@dataclass(frozen=True, slots=True)
class Token:
    """A word or phrase of a sentence, and what it means."""

    kind: str
    text: str
    value: Any = None


class NameSpotter:
    """The companies that a sentence may name: by ticker, by their own name, or by a well-known one."""

    def __init__(self, companies: Iterable[tuple[str, str, Sequence[str]]]) -> None:
        """``companies`` are (ticker, name, all tickers)."""
        self._by_key: dict[str, set[str]] = {key: {ticker} for key, ticker in WELL_KNOWN.items()}
        self._tickers: dict[str, str] = {}
        for ticker, name, tickers in companies:
            self._by_key.setdefault(name_key(name), set()).add(ticker)
            self._tickers |= dict.fromkeys(tickers, ticker)

    def find(self, text: str, at: int) -> tuple[str, int] | None:
        """Return the ticker of the company that is named at a place, and where its name ends."""
        ends: list[int] = []
        place = at
        while len(ends) < _NAME_WORDS and (matched := _WORD.match(text, place)) is not None:
            ends.append(matched.end())
            place = matched.end() + 1 if text[matched.end() : matched.end() + 1] == " " else len(text)
        for end in reversed(ends):
            words = text[at:end].split()
            if not _NAME.match(words[0]) or {words[0].lower(), words[-1].lower()} & _NOT_AT_AN_EDGE:
                continue
            found = self._by_key.get(name_key(text[at:end]), set())
            if len(found) == 1:
                return next(iter(found)), end
            word = words[0].rstrip(".")
            if len(words) == 1 and word.isupper() and word not in _NO_TICKERS:
                ticker = word.replace(".", "-")
                if ticker in self._tickers:
                    return ticker, end
        return None


def read_words(text: str, names: NameSpotter) -> list[Token]:
    """Return the tokens of a sentence; what is no known word is of the kind ``UNKNOWN``."""
    rest = re.sub(r"['\u2019]s\b|(?<=s)['\u2019](?=\s)", "", text.strip()).rstrip(" .!")
    rest = re.sub(r"n['\u2019]t\b", " not", rest)
    rest = re.sub(r"\s+", " ", rest)
    tokens: list[Token] = []
    at = 0
    while at < len(rest):
        if rest[at] == " ":
            at += 1
            continue
        found, at = _read_one(rest, at, names, tokens)
        tokens += found
    return _merge_unknown(tokens)


def _read_one(text: str, at: int, names: NameSpotter, before: Sequence[Token]) -> tuple[list[Token], int]:
    """Return what stands at a place, and where it ends."""
    last = before[-1].kind if before else ""
    if last in ("A", "R") and (dash := re.compile(r"[-\u2013\u2014]\s?(?=[\d$€£¥])").match(text, at)):
        return [Token("d", dash[0])], dash.end()
    for pattern in _PERIODS:
        if matched := pattern.match(text, at):
            return [Token("P", matched[0], _period(matched))], matched.end()
    if matched := _PERCENT.match(text, at):
        return [Token("R", matched[0], _percentage(matched))], matched.end()
    if (matched := _AMOUNT.match(text, at)) and _is_amount(matched, text):
        return [Token("A", matched[0], _amount(matched))], matched.end()
    if found := names.find(text, at):
        ticker, end = found
        return [Token("C", text[at:end], ticker)], end
    phrase = _phrase_pattern().match(text, at)
    measure = _metric_pattern().match(text, at)
    if measure is not None and (phrase is None or measure.end() >= phrase.end()):
        return [Token("M", measure[0], _measure(measure[0]))], measure.end()
    if phrase is not None:
        return _read_phrase(phrase[0]), phrase.end()
    word = re.compile(r"[^\s,;:]+|.").match(text, at)
    assert word is not None
    return [Token(UNKNOWN, word[0])], word.end()


def _read_phrase(text: str) -> list[Token]:
    words = text.lower()
    kind = _kinds()[words]
    if kind == "N" and _WITH_NOT.get(words):
        return [Token("V", words.split()[0]), Token("N", "not")]
    return [Token(kind, text)] if kind else []


def _merge_unknown(tokens: Iterable[Token]) -> list[Token]:
    """Return the tokens with unknown words that stand side by side as one."""
    merged: list[Token] = []
    for token in tokens:
        if token.kind == UNKNOWN and merged and merged[-1].kind == UNKNOWN:
            merged[-1] = Token(UNKNOWN, f"{merged[-1].text} {token.text}")
        else:
            merged.append(token)
    return merged


@cache
def _kinds() -> dict[str, str]:
    return {phrase: kind for kind, phrases in _PHRASES.items() for phrase in phrases.split("|")}


@cache
def _phrase_pattern() -> re.Pattern[str]:
    phrases = sorted(_kinds(), key=len, reverse=True)
    return re.compile("|".join(re.escape(each) + (r"\b" if each[-1].isalpha() else "") for each in phrases), re.I)


@cache
def _metric_words() -> dict[str, Measure]:
    words: dict[str, Measure] = {}
    for metric in list_metrics():
        for word in (metric.name, metric.description, *metric.aliases):
            words.setdefault(word.lower(), Measure(metric))
    for word, name in _LOSSES.items():
        metric_ = find_metric(name)
        assert metric_ is not None
        words[word] = Measure(metric_, -1)
    return words


@cache
def _metric_pattern() -> re.Pattern[str]:
    def spelt(word: str) -> str:
        plain = re.escape(word).replace(r"\ ", "[ -]")
        return plain.replace("holders", "holders?['\u2019]?") + r"(?![\w-])"

    return re.compile("|".join(map(spelt, sorted(_metric_words(), key=len, reverse=True))), re.IGNORECASE)


def _measure(text: str) -> Measure:
    plain = re.sub(r"[ -]+", " ", text.lower()).replace("'", "").replace("\u2019", "")
    found = _metric_words().get(plain) or _metric_words().get(plain.replace("holder ", "holders "))
    assert found is not None
    return found


def _period(matched: re.Match[str]) -> Period:
    groups = matched.groupdict()
    year = int(groups["year"]) if groups.get("year") else 2000 + int(groups["short"])
    word = (groups.get("word") or "").lower()
    quarter = int(groups["quarter"]) if groups.get("quarter") else _QUARTERS.get(word)
    return Period(year, quarter, bool(groups.get("fiscal")))


def _is_amount(matched: re.Match[str], text: str) -> bool:
    """Whether a match is a whole number: brackets in pairs, nothing of a word behind it."""
    following = text[matched.end() : matched.end() + 1]
    return bool(matched["open"]) == bool(matched["close"]) and not following.isalnum() and following not in ("%", "/")


def _percentage(matched: re.Match[str]) -> Amount:
    value, step = _number(matched["digits"], 0)
    return Amount(-value if matched["minus"] else value, step)


def _amount(matched: re.Match[str]) -> Amount:
    scale = (matched["scale"] or "").lower()
    value, step = _number(matched["digits"], _SCALES.get(scale, 0))
    unit = (matched["unit"] or "").lower()
    money = [each.lower() for each in (matched["sign"], matched["code"], unit) if each and each.lower() != SHARES]
    found = [CURRENCIES.get(each) or frozenset({each.upper()}) for each in money]
    currencies = frozenset.intersection(*found) if found else None
    negative = bool(matched["minus"]) != bool(matched["open"])
    return Amount(
        -value if negative else value, step, currencies, unit == SHARES, bool(matched["each"]), _SCALES.get(scale, 0)
    )


def _number(digits: str, scale: int) -> tuple[Decimal, Decimal]:
    plain = Decimal(digits.replace(",", ""))
    factor = Decimal(1).scaleb(scale)
    return plain * factor, Decimal(1).scaleb(int(plain.as_tuple().exponent)) * factor
