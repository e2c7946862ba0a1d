"""Resolve XBRL facts to figures: the value, vintage and filing for each period (docs/filings.md).

In each filing, the tag that covers the entire company determines the value for a period. The vintages of a figure are
its values in filing order.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from fingerpost.filings.concepts import FLOW, PER_SHARE, RAW, Metric, choose_headline_concept
from fingerpost.filings.figure import (
    ANNUAL_FORMS,
    DERIVED,
    LATEST_FIGURES,
    ORIGINAL,
    PERIODIC_FORMS,
    RESTATEMENT_FORMS,
    SPLIT_ADJUSTED,
    Fact,
    Figure,
    FigureOptions,
    MetricFigures,
    Revision,
    derive_figure,
)
from fingerpost.filings.periods import QUARTER, SUBTRACTIONS, FiscalCalendar, classify_period, day_after, day_number
from fingerpost.filings.revisions import (
    RESTATED,
    ROUNDED,
    Split,
    classify_change,
    find_split_factor,
    have_common_framework,
    is_in_shares,
    is_per_share,
    is_renamed_between,
    is_rounding,
    restate_jointly,
)
from fingerpost.runtime.grouping import group_by_key

_SAME_START_DAYS = 7
_SAME_END_DAYS = 3

_Period = tuple[str, str]
_Filings = Mapping[str, dict[str, Fact]]


def resolve(
    metric: Metric,
    facts: Iterable[Fact],
    *,
    calendar: FiscalCalendar,
    splits: Sequence[Split] = (),
    sic: str | None = None,
    currency: str = "USD",
    options: FigureOptions = LATEST_FIGURES,
    name_changes: Sequence[str] = (),
) -> MetricFigures:
    """Return all reported and derived figures for a metric. ``facts`` may be unordered and contain duplicates."""
    included = [fact for fact in facts if options.as_of is None or fact.filed <= options.as_of]
    if metric.kind == PER_SHARE:
        # Facebook stated earnings per share in USD until 2020.
        included = [fact._replace(unit=f"{currency}/shares") if fact.unit == currency else fact for fact in included]
    unit = _choose_unit(included, currency)
    included = [fact for fact in included if fact.unit == unit]
    figures = _resolve_periods(metric, included, splits, sic, options)
    rejected: dict[str, Figure] = {}
    if metric.kind in (FLOW, RAW) and not is_in_shares(unit) and unit != "pure":
        derived, rejected = _derive_quarters(figures, options, name_changes)
        figures = [
            figure
            for figure in figures
            if figure.period != QUARTER or figure.tier <= derived.get(figure.end, figure).tier
        ]
        figures += derived.values()
    quarter_ends = {figure.end for figure in figures if figure.period == QUARTER}
    unresolved = [figure for end, figure in rejected.items() if end not in quarter_ends]
    dated_figures = [adjust_for_splits(_set_fiscal_period(figure, calendar), splits, options) for figure in figures]
    dated_figures.sort(key=lambda figure: (figure.end, figure.start))
    return MetricFigures(tuple(dated_figures), tuple(_set_fiscal_period(figure, calendar) for figure in unresolved))


def _resolve_periods(
    metric: Metric, facts: Sequence[Fact], splits: Sequence[Split], sic: str | None, options: FigureOptions
) -> list[Figure]:
    form_passes = [PERIODIC_FORMS, RESTATEMENT_FORMS]
    if options.filing_type is not None:
        form_passes = [frozenset({options.filing_type.upper()})]
    figures: dict[_Period, Figure] = {}
    for forms in form_passes:
        resolved = {(classify_period(*period), period[1]) for period in figures}
        periods = _group_by_period(fact for fact in facts if fact.form in forms)
        preferred = _find_preferred_concepts(metric, periods.values(), sic)
        for period, filings in periods.items():
            if (classify_period(*period), period[1]) not in resolved:
                headlines = _list_headlines(metric, filings, preferred, sic)
                figures[period] = _resolve_period(metric, period, filings, headlines, splits, options.vintage)
    return list(figures.values())


def _choose_unit(facts: Sequence[Fact], currency: str) -> str:
    counts = Counter(fact.unit for fact in set(facts))
    for preferred in (currency, f"{currency}/shares"):
        if preferred in counts:
            return preferred
    return min(counts, key=lambda unit: (-counts[unit], unit), default=currency)


def _group_by_period(facts: Iterable[Fact]) -> dict[_Period, dict[str, dict[str, Fact]]]:
    by_class = group_by_key((classify_period(fact.start, fact.end), fact) for fact in set(facts))
    periods: dict[_Period, dict[str, dict[str, Fact]]] = defaultdict(lambda: defaultdict(dict))
    for class_facts in by_class.values():
        ends = _map_to_common_days(Counter(fact.end for fact in class_facts), _SAME_END_DAYS)
        for end, end_facts in group_by_key((ends[fact.end], fact) for fact in class_facts).items():
            starts = _map_to_common_days(Counter(fact.start for fact in end_facts), _SAME_START_DAYS)
            # The largest of a filing's values comes last and replaces the others.
            for fact in sorted(end_facts, key=lambda each: (abs(each.value), each.value, each.start, each.end)):
                periods[starts[fact.start], end][fact.accession][fact.concept] = fact
    return periods


def _map_to_common_days(counts: Counter[str], slack_days: int) -> dict[str, str]:
    days = sorted(counts)
    if len(days) == 1 or not days[0]:
        return {day: day for day in days}
    numbers = [day_number(day) for day in days]
    common_days = {}
    for day, number in zip(days, numbers, strict=True):
        neighbors = days[bisect_left(numbers, number - slack_days) : bisect_right(numbers, number + slack_days)]
        common_days[day] = min(neighbors, key=lambda candidate: (-counts[candidate], candidate))
    return common_days


def _find_preferred_concepts(metric: Metric, periods: Iterable[_Filings], sic: str | None) -> dict[str, set[str]]:
    """Return, for each concept, the headline concepts of filings that state another value for the same period."""
    preferred: dict[str, set[str]] = defaultdict(set)
    for filings in periods:
        for by_concept in filings.values():
            if len(by_concept) > 1:
                for tier in metric.tiers:
                    values = {concept: by_concept[concept].value for concept in tier if concept in by_concept}
                    winner = choose_headline_concept(metric, values, sic) if values else ""
                    for concept, value in values.items():
                        if value != values[winner]:
                            preferred[concept].add(winner)
    return {
        concept: {winner for winner in winners if concept not in preferred.get(winner, ())}
        for concept, winners in preferred.items()
    }


def _resolve_period(
    metric: Metric, period: _Period, filings: _Filings, headlines: list[Fact], splits: Sequence[Split], vintage: str
) -> Figure:
    revisions = _list_revisions(headlines, splits)
    chosen = revisions[0].fact if vintage == ORIGINAL else _choose_latest(revisions)
    matching = [fact for fact in headlines if fact.value == chosen.value]
    tier = metric.tier_by_concept[matching[0 if vintage == ORIGINAL else -1].concept]
    facts = sorted(
        (other for by_concept in filings.values() for other in by_concept.values()),
        key=lambda other: (other.filed, other.accession, metric.concepts.index(other.concept)),
    )
    concepts = frozenset(other.concept for other in facts if other.value == chosen.value)
    facts = [other for other in facts if metric.tier_by_concept[other.concept] == tier]
    fact = next(other for other in facts if other.value == chosen.value)
    values = {revision.fact.value for revision in revisions}
    alternatives = {other.concept: other for other in facts if other.value not in values}
    return Figure(
        metric=metric.name,
        start=period[0],
        end=period[1],
        unit=fact.unit,
        value=chosen.value,
        fact=fact,
        tier=metric.tier_by_concept[headlines[-1].concept],
        concepts=concepts,
        headlines=tuple(headlines),
        values=tuple(revisions),
        alternatives=tuple(alternatives[concept] for concept in sorted(alternatives)),
        notes=() if tier == 0 else (f"no {metric.tiers[0][0]} for this period: {fact.concept} is used instead",),
    )


def _list_headlines(
    metric: Metric, filings: _Filings, preferred: Mapping[str, set[str]], sic: str | None
) -> list[Fact]:
    """Return the best-tagged fact of each filing for a period, oldest first.

    Skip a fact if an earlier filing used a higher-ranked tag: the fact is a component or a related figure, not a
    revision.
    """
    present = {concept for by_concept in filings.values() for concept in by_concept}
    complete = {concept for concept in present if not preferred.get(concept, set()) & present} or present
    headlines = []
    for by_concept in filings.values():
        values = {concept: fact.value for concept, fact in by_concept.items() if concept in complete}
        if values:
            best = min(metric.tier_by_concept[concept] for concept in values)
            values = {concept: value for concept, value in values.items() if metric.tier_by_concept[concept] == best}
            headlines.append(by_concept[choose_headline_concept(metric, values, sic)])
    headlines.sort(key=lambda fact: (fact.filed, fact.accession))
    tiers = [metric.tier_by_concept[fact.concept] for fact in headlines]
    return [fact for fact, tier, best in zip(headlines, tiers, accumulate(tiers, min), strict=True) if tier == best]


def _list_revisions(headlines: Sequence[Fact], splits: Sequence[Split]) -> list[Revision]:
    revisions = [Revision(headlines[0], "original")]
    for fact in headlines[1:]:
        previous = revisions[-1].fact
        if fact.value != previous.value:
            factor = find_split_factor(splits, previous.filed, None)
            ratios = {split.ratio for split in splits} | {factor}
            kind = classify_change(previous.value, fact.value, fact.unit, sorted(ratios - {1.0}))
            if kind == ROUNDED and fact.taxonomy != previous.taxonomy:
                kind = RESTATED
            revisions.append(Revision(fact, kind))
    return revisions


def _choose_latest(revisions: Sequence[Revision]) -> Fact:
    """Return the newest fact, or an earlier one with an unrounded form of the same value."""
    last = revisions[-1].fact
    same_framework = [fact for fact, _ in revisions if fact.taxonomy == last.taxonomy]
    precise = [fact for fact in same_framework if is_rounding(fact.value, last.value)]
    return precise[-1] if precise else last


def adjust_for_splits(figure: Figure, splits: Sequence[Split], options: FigureOptions) -> Figure:
    """Adjust a figure for later splits if the vintage is ``split_adjusted``; otherwise add a note about the splits."""
    factor = find_split_factor(splits, figure.fact.filed, options.as_of) if is_in_shares(figure.unit) else 1
    if factor == 1:
        return figure
    ratio = f"{factor:g}:1"
    if options.vintage != SPLIT_ADJUSTED:
        note = f"filed before a {ratio} split and not adjusted for it; use vintage split_adjusted"
        return replace(figure.with_note(note), as_filed=figure)
    value = figure.value / factor if is_per_share(figure.unit) else round(figure.value * factor)
    note = f"adjusted for a {ratio} split after it was filed; stated as {figure.value}"
    return replace(figure.with_note(note), value=round(value, 6), kind=DERIVED, as_filed=figure)


def _set_fiscal_period(figure: Figure, calendar: FiscalCalendar) -> Figure:
    if figure.is_cover:
        year, quarter = calendar.find_report_period(figure.fact.filed, is_annual=figure.fact.form in ANNUAL_FORMS)
    else:
        year, quarter = calendar.find_period(figure.end)
    return replace(figure, fiscal_year=year, fiscal_quarter=quarter)


_AMOUNT_DIGITS = 4


def _derive_quarters(
    figures: Sequence[Figure], options: FigureOptions, name_changes: Sequence[str]
) -> tuple[dict[str, Figure], dict[str, Figure]]:
    """Derive quarters by subtraction; return, by end date, the derived ones and those without a common basis.

    A quarter is not derived if a filing states it with an equal or better tag.
    """
    quarters = [figure for figure in figures if figure.period == QUARTER]
    stated_tiers = {figure.end: figure.tier for figure in quarters}
    recasts = [each.fact for figure in quarters for each in figure.values if each.kind == RESTATED]
    by_class_and_start = group_by_key(((figure.period, figure.start), figure) for figure in figures)
    derived: dict[str, Figure] = {}
    rejected: dict[str, Figure] = {}
    for longer_class, shorter_class, formula in SUBTRACTIONS:
        for longer in figures:
            if longer.period != longer_class or stated_tiers.get(longer.end, longer.tier + 1) <= longer.tier:
                continue
            for shorter in by_class_and_start.get((shorter_class, longer.start), ()):
                if classify_period(day_after(shorter.end), longer.end) != QUARTER:
                    continue
                pair = _align_pair(longer, shorter, recasts, options, name_changes)
                if pair is None:
                    rejected.setdefault(longer.end, _subtract(longer, shorter, formula))
                else:
                    quarter = _subtract(*pair, formula)
                    extra = [note for part in pair for note in part.notes if note not in longer.notes + shorter.notes]
                    derived.setdefault(longer.end, replace(quarter, notes=(*quarter.notes, *extra)))
    return derived, rejected


def _align_pair(
    longer: Figure, shorter: Figure, recasts: Sequence[Fact], options: FigureOptions, name_changes: Sequence[str]
) -> tuple[Figure, Figure] | None:
    """Return two figures on a common basis, or None.

    Original values need only a common tag; other values must have the same tier. The figures are returned unchanged if
    they share a framework, neither was restated or recast, and the company was not renamed between the filings.
    Otherwise, the values come from the newest filing that states both figures with the same tag.
    """
    if options.vintage == ORIGINAL:
        return (longer, shorter) if longer.concepts & shorter.concepts else None
    if longer.tier != shorter.tier:
        return None
    pair = [longer, shorter]
    is_recast = shorter.headlines[-1].filed < longer.fact.filed and any(
        fact.accession == longer.fact.accession and shorter.start < fact.end <= shorter.end for fact in recasts
    )
    is_unchanged = not (longer.restated or shorter.restated or is_recast or is_renamed_between(pair, name_changes))
    if have_common_framework(pair) and is_unchanged:
        return longer, shorter
    joint = restate_jointly(pair)
    return (joint[0], joint[1]) if joint else None


def _subtract(longer: Figure, shorter: Figure, formula: str) -> Figure:
    notes = []
    if not longer.concepts & shorter.concepts:
        notes.append(f"the two parts have different tags: {longer.fact.concept} and {shorter.fact.concept}")
    value = longer.value - shorter.value
    value = round(value, _AMOUNT_DIGITS) if isinstance(value, float) else value
    quarter = derive_figure(longer, (longer, shorter), value, formula, notes)
    return replace(quarter, start=day_after(shorter.end))
