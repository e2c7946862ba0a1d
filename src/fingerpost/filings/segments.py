"""Break down a figure by an axis, such as segment or product, and compare the sum with the filing's total."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import INSTANT, QUARTER, QUARTERS, YEAR, FiscalCalendar, classify_period
from fingerpost.filings.xbrl import InstanceFact

PART, RECONCILING, OVERLAPPING = "part", "reconciling", "overlapping"
_SUMMED_ROLES = (PART, RECONCILING)
SEGMENT_AXIS = "us-gaap:StatementBusinessSegmentsAxis"
_CONSOLIDATION_AXES = ("srt:ConsolidationItemsAxis", "us-gaap:ConsolidationItemsAxis")
_OPERATING_SEGMENTS = ("us-gaap:OperatingSegmentsMember", "srt:OperatingSegmentsMember")
# Limit the rows, because the search for subtotals tries all combinations. Few filings have more rows.
_MAX_ROWS = 24
_MAX_SUBTOTALS = 4
_MAX_SUMMANDS = 16
# Among more rows, two could add up to the difference by chance.
_MAX_DETAILS = 2
_MAX_ROWS_WITH_DETAILS = 10
# Common words for the standard axes; a query that specifies no axis uses these axes.
AXIS_WORDS: Mapping[str, tuple[str, ...]] = {
    "segment": (SEGMENT_AXIS, "us-gaap:SegmentsAxis"),
    "product": ("srt:ProductOrServiceAxis", "us-gaap:ProductOrServiceAxis", "us-gaap:ProductsAndServicesAxis"),
    "region": ("srt:StatementGeographicalAxis", "us-gaap:StatementGeographicalAxis", "us-gaap:GeographicalAxis"),
    "customer": ("srt:MajorCustomersAxis", "us-gaap:MajorCustomersAxis"),
}


@dataclass(frozen=True, eq=False)
class Report:
    """A report whose dimensional facts are loaded."""

    library: FactLibrary
    number: int
    cik: int
    accession: str
    form: str
    filed: str
    period_end: str

    @cached_property
    def labels(self) -> dict[str, str]:
        return dict(self.library.rows("SELECT name, label FROM instance_labels WHERE instance = ?", self.number))

    def read_facts(self, concepts: Sequence[str], calendar: FiscalCalendar) -> dict[PeriodFilter, list[InstanceFact]]:
        """Return the facts for the given concepts, by fiscal year or quarter."""
        query = (
            "SELECT concept, unit, start_date, end_date, value, members FROM instance_facts"  # noqa: S608
            f" WHERE instance = ? AND concept IN ({', '.join('?' * len(concepts))})"
        )
        by_period: dict[PeriodFilter, list[InstanceFact]] = defaultdict(list)
        for *columns, members in self.library.rows(query, self.number, *concepts):
            fact = InstanceFact._make((*columns, tuple(json.loads(members or "{}").items())))
            if (period := find_period(fact, calendar)) is not None:
                by_period[period].append(fact)
        return by_period


class BreakdownRow(NamedTuple):
    """A member of an axis, with its value and role.

    ``Breakdown.sum`` includes ``part`` and ``reconciling`` rows. It excludes ``overlapping`` rows: subtotals, parts of
    other rows, and rows that split the total in another way.
    """

    member: str
    value: int | float
    role: str


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The rows for one axis, filing and period; ``total`` is None if the filing states no total.

    ``omitted`` counts the values that are not in the rows, such as values before eliminations and most values
    for members of several axes. If ``is_crossed``, some rows are for a combination of members from several axes.
    """

    report: Report
    axis: str
    concept: str
    unit: str
    start: str
    end: str
    total: int | float | None
    rows: tuple[BreakdownRow, ...]
    omitted: int
    is_crossed: bool = False

    @property
    def axis_label(self) -> str:
        return self.report.labels.get(self.axis, self.axis)

    @property
    def sum(self) -> int | float:
        return _round(sum(row.value for row in self.rows if row.role in _SUMMED_ROLES))

    @property
    def difference(self) -> int | float | None:
        return None if self.total is None else _round(self.total - self.sum)


def _round(value: float) -> int | float:
    # Floating-point summation errors are far smaller than the last digit that a filing reports.
    return value if isinstance(value, int) else round(value, 6)


def list_reports(library: FactLibrary, ciks: Iterable[int], last_day: str) -> list[Report]:
    """Return the companies' reports that have segment data and were filed by the given day, newest first."""
    query = (
        "SELECT id, cik, accession_number, filing_type, filing_date, report_date FROM instances"
        " WHERE cik = ? AND filing_date <= ?"
    )
    reports = [Report(library, *row) for cik in ciks for row in library.rows(query, cik, last_day)]
    return sorted(reports, key=lambda report: (report.filed, report.accession), reverse=True)


def find_period(fact: InstanceFact, calendar: FiscalCalendar) -> PeriodFilter | None:
    """Return a fact's fiscal year or quarter, or None for other periods. A balance belongs to the nearest quarter."""
    length = classify_period(fact.start, fact.end)
    year, quarter = calendar.find_period(fact.end)
    if length == YEAR or (length == INSTANT and quarter == QUARTERS):
        return PeriodFilter(year=year)
    return PeriodFilter(year=year, quarter=quarter) if length in (QUARTER, INSTANT) else None


def build_breakdowns(report: Report, facts: Sequence[InstanceFact]) -> list[Breakdown]:
    """Break down one period's facts by each axis, using the concept and unit whose rows best match the total."""
    by_axis: dict[str, list[Breakdown]] = defaultdict(list)
    groups: dict[tuple[str, str, str, str], list[InstanceFact]] = defaultdict(list)
    # Put facts with members first, because the order breaks ties between candidates.
    for fact in sorted(facts, key=lambda fact: not fact.members):
        groups[fact.concept, fact.unit, fact.start, fact.end].append(fact)
    for (concept, unit, start, end), group in groups.items():
        total = next((fact.value for fact in group if not fact.members), None)
        for axis in sorted({axis for fact in group for axis, _ in fact.members if axis not in _CONSOLIDATION_AXES}):
            rows, crossed, omitted = _list_rows(group, axis)
            for chosen, left_out in [(rows, omitted + len(crossed)), ([*rows, *crossed], omitted)][: 1 + bool(crossed)]:
                overlapping = () if total is None else _find_overlapping(chosen, total)
                final_rows = tuple(row._replace(role=OVERLAPPING) if row in overlapping else row for row in chosen)
                totals = (concept, unit, start, end, total)
                breakdown = Breakdown(report, axis, *totals, final_rows, left_out, is_crossed=chosen is not rows)
                if chosen and (not rows or chosen is rows or breakdown.difference == 0):
                    by_axis[axis].append(breakdown)
    return [
        max(candidates, key=lambda item: (item.difference == 0, item.total is not None, len(item.rows)))
        for candidates in by_axis.values()
    ]


def _list_rows(group: Sequence[InstanceFact], axis: str) -> tuple[list[BreakdownRow], list[BreakdownRow], int]:
    """Return the rows of an axis, the crossed rows, and the number of facts in neither list.

    A crossed row is a member's only value, and also belongs to a member of another axis: for example, a region and the
    company's only product. Crossed rows are used if they make the sum equal the total, or if there are no other rows.
    """
    rows: dict[str, BreakdownRow] = {}
    crossed: dict[str, list[BreakdownRow]] = defaultdict(list)
    omitted = 0
    # Values that include sales to other segments come first, so that values without these sales replace them.
    for fact in sorted(group, key=lambda fact: -len(fact.members)):
        members = {
            name: member
            for name, member in fact.members
            if name not in _CONSOLIDATION_AXES or member not in _OPERATING_SEGMENTS
        }
        if members.keys() == {axis}:
            row = BreakdownRow(members[axis], fact.value, PART)
            omitted += row != rows.get(row.member, row)
            rows[row.member] = row
        elif axis == SEGMENT_AXIS and len(members) == 1 and not members.keys().isdisjoint(_CONSOLIDATION_AXES):
            (item,) = members.values()
            rows[item] = BreakdownRow(item, fact.value, RECONCILING)
        elif axis in members:
            crossed[members[axis]].append(BreakdownRow(members[axis], fact.value, PART))
    single = [found[0] for member, found in crossed.items() if member not in rows and len(found) == 1]
    return list(rows.values()), single, omitted + sum(map(len, crossed.values())) - len(single)


def _find_overlapping(rows: Sequence[BreakdownRow], total: float) -> Sequence[BreakdownRow]:
    """Return the rows to exclude so that the rest add up to the total; return no rows if this is impossible.

    Excluded rows are subtotals of other rows, or add up to the total by themselves. If there are few rows, one or two
    of the excluded rows may instead be parts of other rows.
    """
    surplus = _round(sum(row.value for row in rows) - total)
    if surplus == 0 or len(rows) > _MAX_ROWS:
        return ()
    for count in range(1, min(_MAX_SUBTOTALS, len(rows) - 1) + 1):
        for chosen in combinations([row for row in rows if row.role == PART], count):
            if _round(sum(row.value for row in chosen) - surplus) == 0:
                others = [row.value for row in rows if row not in chosen]
                are_few = count <= _MAX_DETAILS and len(rows) <= _MAX_ROWS_WITH_DETAILS and len(others) > 1
                is_whole = surplus == total and count > 1
                if are_few or is_whole or all(_is_sum(row.value, others) for row in chosen):
                    return chosen
    return ()


def _is_sum(value: float, others: Sequence[float]) -> bool:
    """Whether a value is the sum of some of the other values, or equal to one of them."""
    sums: set[float] = {0}
    for other in others[:_MAX_SUMMANDS]:
        sums |= {_round(partial + other) for partial in sums}
    return value in sums


def list_axes(facts: Iterable[InstanceFact]) -> list[str]:
    axes = {axis for fact in facts for axis, _ in fact.members}
    return sorted(axes.difference(_CONSOLIDATION_AXES))


def match_axes(text: str | None, axes: Iterable[str], labels: Mapping[str, str]) -> list[str]:
    """Return the axes that a caller's word refers to: a common word such as ``product``, a tag, or a label.

    If ``text`` is None, return all axes that have a common word.
    """
    folded_text = "" if text is None else _fold(text)
    words = [word for word in AXIS_WORDS if text is None or folded_text in (word, f"{word}s")]
    standard_axes = {axis for word in words for axis in AXIS_WORDS[word]}
    matches = []
    for axis in axes:
        local = axis.partition(":")[2]
        names = (axis, local, local.removesuffix("Axis"), labels.get(axis, axis))
        if axis in standard_axes or folded_text in map(_fold, names):
            matches.append(axis)
    return matches


def _fold(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
