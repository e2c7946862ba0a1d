"""One basis for figures that are combined: one filing states all of them, or no later filing changed any."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from fingerpost.filings.figure import ORIGINAL, SPLIT_ADJUSTED, Figure, FigureOptions
from fingerpost.filings.formula import NotComputable
from fingerpost.filings.revisions import is_in_shares

_FRAMEWORKS = frozenset({"us-gaap", "ifrs-full"})
_K = TypeVar("_K")


def share_framework(figures: Sequence[Figure]) -> bool:
    """Whether all figures were filed under one accounting framework; cover pages have none."""
    frameworks = [found for figure in figures if (found := figure.taxonomies & _FRAMEWORKS)]
    return not frameworks or bool(set.intersection(*frameworks))


def find_joint(figures: Sequence[tuple[str, Figure]]) -> list[Figure] | None:
    """Return figures, each with the name of its metric, as the newest filing states them that has all of them.

    In that filing, each metric has one tag.
    """
    stated = [{fact.accession: fact for fact in figure.headlines} for _, figure in figures]
    common = set[str].intersection(*(set(by_accession) for by_accession in stated))
    for accession in sorted(common, key=lambda accession: (stated[0][accession].filed, accession), reverse=True):
        facts = [by_accession[accession] for by_accession in stated]
        tags = {(name, fact.concept) for (name, _), fact in zip(figures, facts, strict=True)}
        has_one_tag = len(tags) == len({name for name, _ in tags})
        if has_one_tag and len({fact.taxonomy for fact in facts} & _FRAMEWORKS) <= 1:
            return [figure.restated_by(fact) for (_, figure), fact in zip(figures, facts, strict=True)]
    return None


def list_changes(before: Sequence[Figure], after: Sequence[Figure]) -> list[str]:
    """Return a note on each figure whose value another filing decided."""
    pairs = zip(before, after, strict=True)
    return [note for old, new in pairs for note in new.notes if note not in old.notes]


def on_one_basis(inputs: Mapping[_K, tuple[str, Figure]], options: FigureOptions) -> dict[_K, Figure]:
    """Return the inputs of a calculation, each with the name of its metric, with values that can be combined.

    The newest filing that states all inputs decides if they are of two frameworks, or if one of several periods of a
    metric was restated.

    Raises:
        NotComputable: no filing states all of them.
    """
    figures = [figure for _, figure in inputs.values()]
    names = [name for name, _ in inputs.values()]
    # A figure with one statement has been chosen from its filings before.
    changed = {name for name, figure in inputs.values() if figure.restated and len(figure.headlines) > 1}
    restated = {name for name in changed if names.count(name) > 1}
    is_comparable = share_framework(figures)
    # No filing states what was adjusted for a split.
    is_adjusted = options.vintage == SPLIT_ADJUSTED and any(is_in_shares(figure.unit) for figure in figures)
    has_joint = options.vintage != ORIGINAL and not is_adjusted
    if is_comparable and not (restated and has_joint):
        return {key: figure for key, (_, figure) in inputs.items()}
    joint = find_joint(list(inputs.values())) if has_joint else None
    if joint is not None:
        return dict(zip(inputs, joint, strict=True))
    why = f"a later filing restated {' and '.join(sorted(restated))}" if is_comparable else "of two frameworks"
    listed = ", ".join(
        f"{name} {figure.value} to {figure.end} ({fact.form} {fact.accession} of {fact.filed}, {fact.taxonomy})"
        for name, figure in inputs.values()
        for fact in [figure.fact]
    )
    raise NotComputable(f"no filing states all inputs, and they are not on one basis ({why}): {listed}")
