"""Age of an answer's realtime (rule B4)."""

from collections.abc import Iterable, Sequence

from fingerpost.transit.model.itinerary import Departure, Leg
from fingerpost.transit.model.provenance import Provenance

# Realtime older than this is called stale.
STALE_AFTER_S = 90

# The unit in seconds, the age from which on it is taken, and its word.
_UNITS = ((86_400, 2 * 86_400, "days"), (3600, 2 * 3600, "h"), (60, 121, "min"))


def data_freshness(rows: Iterable[Leg | Departure], received: int) -> int:
    """Return the plan_trip contract's ``dataFreshness``: the latest realtime update, or the request's instant."""
    return max([received, *_updates(rows)])


def realtime_age_s(rows: Iterable[Leg | Departure], received: int) -> int | None:
    """Return the age of the oldest realtime update, never below 0; None where there is none.

    The oldest, because an answer is no fresher than its stalest ride.
    """
    updates = _updates(rows)
    return max(0, received - min(updates)) if updates else None


def answer_age_s(rows: Iterable[Leg | Departure], provenance: Provenance, received: int) -> int | None:
    """Return the age in seconds of the rows' oldest update, else of the source's; None without real time."""
    age_s = realtime_age_s(rows, received)
    if age_s is None and provenance.realtime_updated is not None:
        return max(0, received - provenance.realtime_updated)
    return age_s


def find_stale_message(age_s: int | None, problems: Sequence[str] = ()) -> str | None:
    """Return the message of ``realtime-stale``: the age if it is too old, and the sources' problems; else None."""
    sentences = [f"Realtime data is {say_age(age_s or 0)} old."] if is_stale(age_s) else []
    if problems:
        sentences.append("Realtime is missing or held up: " + " ".join(problems))
    return " ".join(sentences) or None


def say_age(age_s: int) -> str:
    """Return an age as a person says it, in whole units: seconds up to two minutes, then minutes, hours, days."""
    for unit_s, least_s, unit in _UNITS:
        if age_s >= least_s:
            return f"{age_s // unit_s:,} {unit}"
    return f"{age_s} s"


def is_stale(age_s: int | None) -> bool:
    """Whether an age in seconds is above the limit of ``realtime-stale``."""
    return age_s is not None and age_s > STALE_AFTER_S


def _updates(rows: Iterable[Leg | Departure]) -> list[int]:
    return [row.last_realtime_update for row in rows if row.last_realtime_update is not None]
