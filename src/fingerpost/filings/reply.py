"""What a question about filings is answered with, before it wears the plan-step contract's envelope."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fingerpost.errors import DataNotFound
from fingerpost.filings.fact import Company

SCALAR, SERIES, MIXED = "scalar", "series", "mixed"
SAMPLE_NOTE = "A small table that ships with fingerpost; it is not complete and not kept up to date"


@dataclass(slots=True)
class Reply:
    """Rows, the values in ``data`` (rule F3), what is missing and why, and whose data it is."""

    results: list[dict[str, Any]]
    data: dict[str, Any] | None = None
    value_mode: str | None = None
    missing: dict[str, dict[str, Any]] = field(default_factory=dict)
    source: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def to_fields(self) -> dict[str, Any]:
        """Return what stands at the top of the answer besides the standard fields."""
        fields: dict[str, Any] = {}
        for name in ("data", "value_mode"):
            value = getattr(self, name)
            if value is not None:
                fields[name] = value
        if self.missing:
            fields["missing"] = self.missing
        if self.source is not None:
            fields["source"] = self.source
        return fields | self.extra


def mode_of(scalars: Iterable[bool]) -> str | None:
    """Return which kind the values are of, None where there are none."""
    kinds = set(scalars)
    if not kinds:
        return None
    return MIXED if len(kinds) > 1 else SCALAR if kinds == {True} else SERIES


def source_of(*companies: Company) -> dict[str, Any]:
    """Return whose data an answer about some companies stands on; the least complete day of all of them."""
    datasets = sorted({company.dataset for company in companies})
    source: dict[str, Any] = {
        "dataset": "+".join(datasets),
        "retrieved_at": min((company.retrieved_at for company in companies if company.retrieved_at), default=None),
        "complete_through": min(company.complete_through for company in companies),
    }
    if "sample" in datasets:
        source["note"] = SAMPLE_NOTE
    return source


def nothing(message: str, missing: Mapping[str, dict[str, Any]], source: dict[str, Any] | None = None) -> DataNotFound:
    """Return the error of a sound question without an answer: the original's sentence, the reasons, the next step."""
    reasons = list(dict.fromkeys(entry["message"] for entry in missing.values()))
    steps = list(dict.fromkeys(entry["next_step"] for entry in missing.values()))
    sentence = f"{message}: {'; '.join(reasons)}" if reasons else message
    details: dict[str, Any] = {"missing": dict(missing)} if missing else {}
    if source is not None:
        details["source"] = source
    return DataNotFound(sentence, details, hint="; ".join(steps) or None)
