"""SEC filing data: companies, XBRL facts, and figures (one resolved value per period)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fingerpost.filings.periods import TRAILING, classify_period

ANNUAL_FORMS = frozenset({"10-K", "10-K/A", "10-KT", "10-KT/A", "20-F", "20-F/A", "40-F", "40-F/A"})
PERIODIC_FORMS = ANNUAL_FORMS | {"10-Q", "10-Q/A", "10-QT", "6-K", "6-K/A"}
RESTATEMENT_FORMS = frozenset({"8-K", "8-K/A"})
SAMPLE, EDGAR = "sample", "edgar"


class Fact(NamedTuple):
    """An XBRL fact as stated in one filing.

    Dates are ISO strings, which sort chronologically; ``start`` is empty for an instant.
    ``value`` is an int for whole numbers.
    """

    concept: str
    unit: str
    start: str
    end: str
    value: int | float
    accession: str
    form: str
    filed: str

    @property
    def taxonomy(self) -> str:
        """The accounting framework, such as ``us-gaap`` or ``ifrs-full``."""
        return self.concept.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Company:
    """A company that files with the SEC.

    ``dataset`` is ``sample`` or ``edgar``.
    ``complete_through`` is the latest filing date among the figures, and ``first_end`` is the earliest period end.
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
    is_quarterly: int = 0
    """Whether the company files 10-Qs."""

    @property
    def padded_cik(self) -> str:
        return f"{self.cik:010d}"


class Filing(NamedTuple):
    """A filing; the last three fields come from EDGAR's list of filings."""

    accession: str
    form: str
    filed: str
    report_date: str = ""
    document: str = ""
    description: str = ""


def cite_filing(cik: int, accession: str, form: str, filed: str) -> dict[str, str]:
    url = f"https://www.sec.gov/Archives/edgar/data/{cik}/{accession.replace('-', '')}/{accession}-index.htm"
    return {"filing_date": filed, "filing_type": form, "accession_number": accession, "filing_url": url}


REPORTED, DERIVED = "reported", "derived"
COVER_PAGE = "dei"
LATEST, ORIGINAL, SPLIT_ADJUSTED, AS_OF = "latest", "original", "split_adjusted", "as_of"


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """Which filings to use, and which of several reported values to return.

    ``as_of`` hides later filings. ``filing_type`` selects one form.
    """

    vintage: str = LATEST
    as_of: str | None = None
    filing_type: str | None = None

    @property
    def label(self) -> str:
        return AS_OF if self.as_of is not None and self.vintage == LATEST else self.vintage


LATEST_FIGURES = FigureOptions()


class Revision(NamedTuple):
    """A fact with a new value; ``kind`` classifies the change from the previous value."""

    fact: Fact
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The resolved value of a metric for one period.

    ``metric`` is the metric's name.
    ``fact`` is the first fact with the value; for a derived value, it is the newest fact among the inputs.
    ``values`` lists the distinct reported values and ``headlines`` one fact per filing, both oldest first.
    ``parts`` are the inputs of a derived value, combined by ``formula``.
    ``as_filed`` is the figure before a split adjustment changed its value or added a note.
    """

    metric: str
    start: str
    end: str
    unit: str
    value: int | float
    fact: Fact
    tier: int = 0
    concepts: frozenset[str] = frozenset()
    headlines: tuple[Fact, ...] = ()
    kind: str = REPORTED
    values: tuple[Revision, ...] = ()
    alternatives: tuple[Fact, ...] = ()
    parts: tuple["Figure", ...] = ()
    formula: str = ""
    notes: tuple[str, ...] = ()
    fiscal_year: int = 0
    fiscal_quarter: int = 0
    as_filed: "Figure | None" = None
    is_trailing: bool = False

    @property
    def period(self) -> str:
        return TRAILING if self.is_trailing else classify_period(self.start, self.end)

    @property
    def is_cover(self) -> bool:
        """Whether the value is from a report's cover page, which has its own date."""
        return not self.start and self.fact.taxonomy == COVER_PAGE

    @property
    def restated(self) -> bool:
        """Whether a later filing changed the value, other than by rounding or a split."""
        return self.is_restated_after("")

    def is_restated_after(self, day: str) -> bool:
        return any(revision.kind == "restated" and revision.fact.filed > day for revision in self.values)

    @property
    def taxonomies(self) -> set[str]:
        """The taxonomies of the value's concepts, or those common to all inputs of a derived value."""
        concept_taxonomies = {concept.partition(":")[0] for concept in self.concepts}
        part_taxonomies = [common for part in self.parts if (common := part.taxonomies - {COVER_PAGE})]
        return concept_taxonomies or (set.intersection(*part_taxonomies) if part_taxonomies else set())

    def with_fact(self, fact: Fact) -> "Figure":
        note = f"{fact.form} {fact.accession} states {fact.value}; another filing states {self.value}"
        notes = self.notes if fact.value == self.value else (*self.notes, note)
        concepts = frozenset({fact.concept})
        return replace(self, value=fact.value, fact=fact, concepts=concepts, headlines=(fact,), notes=notes)

    def with_note(self, note: str) -> "Figure":
        return replace(self, notes=(*self.notes, note))


def derive_figure(
    period: Figure, parts: Sequence[Figure], value: int | float, formula: str, notes: Iterable[str]
) -> Figure:
    """Build a figure derived from ``parts``, with the period of ``period`` and the newest fact among the parts."""
    concepts = [part.concepts for part in parts]
    return Figure(
        metric=period.metric,
        start=period.start,
        end=period.end,
        unit=period.unit,
        value=value,
        fact=max((part.fact for part in parts), key=lambda fact: (fact.filed, fact.accession)),
        tier=period.tier,
        concepts=frozenset.intersection(*concepts) or frozenset().union(*concepts),
        kind=DERIVED,
        parts=tuple(parts),
        formula=formula,
        notes=tuple(dict.fromkeys(notes)),
        fiscal_year=period.fiscal_year,
        fiscal_quarter=period.fiscal_quarter,
        is_trailing=period.is_trailing,
    )


@dataclass(frozen=True, slots=True)
class MetricFigures:
    """A company's figures for a metric: all of them, or those of one period.

    ``rejected`` holds the quarters whose parts have no common basis; their values are never returned.
    ``headline`` holds a period's figures for the response; it is empty if no period has been selected.
    """

    figures: tuple[Figure, ...]
    rejected: tuple[Figure, ...] = ()
    headline: tuple[Figure, ...] = ()
