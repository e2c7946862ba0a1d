"""The words behind a company in ``fingerpost filings``: figures or forms of filings, and a period."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fingerpost.filings.figure import ANNUAL_FORMS

_YEAR_FIRST = re.compile(r"(?:FY ?)?(?P<year>\d{4})(?:[- ]?Q(?P<quarter>[1-4]))?", re.IGNORECASE)
_QUARTER_FIRST = re.compile(r"Q(?P<quarter>[1-4])[- ]?(?:FY ?)?(?P<year>\d{4})", re.IGNORECASE)
_FORM = re.compile(r"(?:\d{1,2}-[A-Z]{1,2}|[SFN]-\d{1,2})(?:/A)?", re.IGNORECASE)
_LIKE_A_PERIOD = re.compile(r"(?:(?:FY|[QH][1-4]|CY)?['-]?\d{2,4}\W?)+(?:[QH][1-4])?|FY|[QH][1-4]", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_LONGEST_PERIOD = 20
# So many years behind a period its reports, amended ones included, have been filed.
_FILED_WITHIN_YEARS = 2
REPORTS = (*sorted(ANNUAL_FORMS), "10-Q", "10-Q/A", "10-QT", "10-QT/A")


class FilingsWords(NamedTuple):
    """What the words mean; without figures and forms it is the company's filings."""

    metrics: list[str]
    forms: list[str]
    period: str | None


def read_period(text: str) -> str | None:
    """Return the fiscal year or quarter that a text names, as ``2022`` or ``2022-Q2``, or None."""
    found = _YEAR_FIRST.fullmatch(text) or _QUARTER_FIRST.fullmatch(text)
    if found is None:
        return None
    return f"{found['year']}-Q{found['quarter']}" if found["quarter"] else found["year"]


def join_periods(words: Sequence[str]) -> list[str]:
    """Return the words, of which two that name a period together have become one: ``2022 Q2``, ``FY 2022``."""
    joined: list[str] = []
    for word in words:
        joined.append(word)
        while len(joined) > 1 and (period := _join(*joined[-2:])) is not None:
            joined[-2:] = [period]
    return joined


def _join(first: str, second: str) -> str | None:
    return None if read_period(first) == read_period(second) else read_period(f"{first} {second}")


def read_words(words: Sequence[str]) -> FilingsWords:
    """Return the figures, which commas part, or the forms, and the period, which is the last word if it is one."""
    rest, period = list(words), read_period(words[-1]) if words else None
    if period is not None:
        rest.pop()
    names = [name for name in (" ".join(part.split()) for part in " ".join(rest).split(",")) if name]
    if rest and all(_FORM.fullmatch(word.rstrip(",")) for word in rest):
        return FilingsWords([], [word.rstrip(",").upper() for word in rest], period)
    return FilingsWords(names, [], period)


def say_period(company: str, words: Sequence[str]) -> str | None:
    """Return how a period is written, where some of the words were meant as another one."""
    meant = [word for word in words if len(word) <= _LONGEST_PERIOD and _LIKE_A_PERIOD.fullmatch(word)]
    if not meant or (len(meant) == 1 and read_period(meant[0])):
        return None
    line = ["fingerpost", "filings", company, *(word for word in words if word not in meant)]
    years = _YEAR.findall(" ".join(meant)) or ["2022"]
    told = f"The period is one fiscal year or quarter, as {years[-1]} or {years[-1]}-Q2"
    return f"{told}: {shlex.join([*line, years[-1]])}. Without one it is every year: {shlex.join(line)}"


def find_reports(rows: Sequence[Mapping[str, Any]], period: str) -> list[Mapping[str, Any]]:
    """Return the reports of a fiscal year or quarter; of a calendar year, where no report's fiscal year is known."""
    year, _, quarter = period.partition("-")
    if not is_fiscal_known(rows):
        return [row for row in rows if row["filing_date"].startswith(year)]
    return [row for row in rows if str(row["fiscal_year"]) == year and quarter in ("", row["fiscal_period"])]


def is_fiscal_known(rows: Sequence[Mapping[str, Any]]) -> bool:
    return any(row["fiscal_year"] for row in rows)


def find_last_day(period: str) -> str:
    """Return the day by which the reports of a period have been filed; newer ones would take their place in a list."""
    return f"{min(int(period[:4]) + _FILED_WITHIN_YEARS, 9999)}-12-31"


def say_unseen(body: Mapping[str, Any], period: str) -> str | None:
    """Return that reports of a period may be missing, where the list that was looked through had been cut."""
    unseen = sum(each["total"] - each["shown"] for each in body.get("left_out", ()) if each["part"] == "results")
    if not unseen:
        return None
    return f"{unseen:,} older filings were not looked through for {period}; name one form, such as 10-K"
