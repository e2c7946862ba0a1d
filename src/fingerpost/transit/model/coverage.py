"""The days on which a feed or a network has service, holes included."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from itertools import pairwise

_DAY = timedelta(days=1)


class ServiceState(StrEnum):
    """How a day lies to the days of service."""

    IN_SERVICE = "in service"
    ENDED = "ended"
    NOT_BEGUN = "not begun"
    PAUSED = "no service"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceDays:
    """Days of service.

    Attributes:
        first_day, last_day: the first and the last; None where not bounded, so both None is any day.
        gaps: the days without service between the two, as (first, last) of each run of days, in order.
    """

    first_day: date | None = None
    last_day: date | None = None
    gaps: tuple[tuple[date, date], ...] = ()

    def state_on(self, day: date) -> ServiceState:
        """Return whether there is service on a day, and why not."""
        if self.last_day is not None and day > self.last_day:
            return ServiceState.ENDED
        if self.first_day is not None and day < self.first_day:
            return ServiceState.NOT_BEGUN
        is_paused = any(first <= day <= last for first, last in self.gaps)
        return ServiceState.PAUSED if is_paused else ServiceState.IN_SERVICE

    def find_next_day(self, day: date) -> date | None:
        """Return the first day of service on a day or after it, None where there is none any more."""
        state = self.state_on(day)
        if state is ServiceState.ENDED:
            return None
        if state is ServiceState.NOT_BEGUN:
            return self.first_day
        return next((last + _DAY for first, last in self.gaps if first <= day <= last), day)

    def say_state_on(self, day: date) -> str:
        """Return the state of a day in words, such as ``ended on 2026-01-02`` or ``no service, next on 2026-01-05``."""
        state = self.state_on(day)
        if state is ServiceState.ENDED:
            return f"ended on {self.last_day}"
        if state is ServiceState.NOT_BEGUN:
            return f"begins on {self.first_day}"
        return state.value if state is ServiceState.IN_SERVICE else f"{state.value}, next on {self.find_next_day(day)}"


def find_service_days(days: Iterable[date]) -> ServiceDays:
    """Return the days of service that are exactly these; of no days at all, nothing is known."""
    ordered = sorted(set(days))
    if not ordered:
        return ServiceDays()
    gaps = tuple((before + _DAY, after - _DAY) for before, after in pairwise(ordered) if after - before > _DAY)
    return ServiceDays(first_day=ordered[0], last_day=ordered[-1], gaps=gaps)
