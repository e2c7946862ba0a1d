"""One reported number, and the filing that reported it."""

from dataclasses import dataclass
from typing import NamedTuple

ANNUAL_FORMS = frozenset({"10-K", "10-K/A", "10-KT", "10-KT/A", "20-F", "20-F/A", "40-F", "40-F/A"})
PERIODIC_FORMS = ANNUAL_FORMS | {"10-Q", "10-Q/A", "10-QT", "6-K", "6-K/A"}
RECAST_FORMS = frozenset({"8-K", "8-K/A"})


class Fact(NamedTuple):
    """A number as one filing states it.

    Days are ISO texts, which sort as days do; ``start`` is empty for an instant.
    ``value`` is an int where the source wrote a whole number.
    """

    concept: str
    unit: str
    start: str
    end: str
    value: int | float
    accession: str
    form: str
    filed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """Who files.

    ``dataset`` is ``sample`` or ``edgar``.
    ``complete_through`` is the newest filing day that the figures cover, ``first_end`` their first period end.
    """

    cik: int
    ticker: str
    tickers: tuple[str, ...]
    name: str
    sic: str | None
    industry: str | None
    exchange: str | None
    currency: str
    dataset: str
    retrieved_at: str | None
    complete_through: str
    first_end: str

    @property
    def padded_cik(self) -> str:
        """The CIK as EDGAR writes it: ten digits."""
        return f"{self.cik:010d}"


def filing_url(cik: int, accession: str) -> str:
    """Return the address of a filing's index at EDGAR."""
    return f"https://www.sec.gov/Archives/edgar/data/{cik}/{accession.replace('-', '')}/{accession}-index.htm"


def plain_number(value: float) -> int | float:
    """Return a whole float as an int: sums of cents aside, reported figures are whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
