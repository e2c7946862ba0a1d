"""Read TfL's times: naive wall clock in journeys, UTC in predictions, the year 1 for unset."""

from datetime import datetime
from functools import lru_cache
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator

MINUTE_S = 60


@lru_cache(maxsize=8192)
def read_naive(text: str) -> datetime:
    """Return a wall-clock time of a journey.

    Raises:
        ValueError: it is none, or has an offset, which TfL's journeys never have.
    """
    read = datetime.fromisoformat(text)
    if read.tzinfo is not None:
        raise ValueError("a wall-clock time with an offset")
    return read


Naive = Annotated[datetime, BeforeValidator(lambda value: read_naive(value) if isinstance(value, str) else value)]
"""A wall-clock time without an offset."""


@lru_cache(maxsize=8192)
def list_instants(naive: datetime, zone: ZoneInfo) -> tuple[int, ...]:
    """Return the instants at which clocks show a time, the earlier first: two where clocks go back, else one."""
    both = {int(naive.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1)}
    shown = [each for each in sorted(both) if datetime.fromtimestamp(each, zone).replace(tzinfo=None) == naive]
    # A time that clocks skip is the instant that they would have shown it at.
    return tuple(shown) or (max(both),)


def choose_instant(naive: datetime, zone: ZoneInfo, *, wanted: int) -> int:
    """Return the instant of a wall-clock time that lies nearest to another; of equals the earlier."""
    return min(list_instants(naive, zone), key=lambda each: abs(each - wanted))


def choose_after(naive: datetime, zone: ZoneInfo, *, earliest: int) -> int:
    """Return the first instant of a wall-clock time that is not before another; the last one where all are."""
    found = list_instants(naive, zone)
    return next((each for each in found if each >= earliest), found[-1])


def print_wall_clock(instant: int, zone: ZoneInfo, *, arrive_by: bool) -> tuple[str, str]:
    """Return the date (yyyyMMdd) and the time (HHmm) of a question in whole minutes.

    Who leaves is asked about from the next full minute on, who arrives up to the last.
    """
    begun = instant - instant % MINUTE_S
    if not arrive_by and begun < instant:
        begun += MINUTE_S
    shown = datetime.fromtimestamp(begun, zone)
    return shown.strftime("%Y%m%d"), shown.strftime("%H%M")
