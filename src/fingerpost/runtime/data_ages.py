"""How old the timetables and the real time of this process are, looked up when somebody asks for its metrics."""

import threading
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol
from weakref import WeakSet

from opentelemetry.metrics import CallbackOptions, Observation

NETWORK = "fingerpost.network.name"
FEED = "fingerpost.feed.name"


class Age(NamedTuple):
    """The age of what is known of a network, or of one of its feeds."""

    network: str
    feed: str | None
    age_s: float


class Aged(Protocol):
    """What knows ages; asked from any thread."""

    def list_timetable_ages(self) -> Iterable[Age]:
        """Return how long ago each open timetable was made from its feeds."""
        ...

    def list_realtime_ages(self) -> Iterable[Age]:
        """Return how long ago each real-time source said what is known of it; none of those that never answered."""
        ...


_AGED: WeakSet[Aged] = WeakSet()
_lock = threading.Lock()


def watch(aged: Aged) -> None:
    """Tell the ages of something as long as it lives."""
    with _lock:
        _AGED.add(aged)


def stop_watching(aged: Aged) -> None:
    """Tell the ages of something no more."""
    with _lock:
        _AGED.discard(aged)


def observe_timetables(_options: CallbackOptions) -> Iterator[Observation]:
    """Tell the age of each timetable."""
    return _observe(age for aged in _list_watched() for age in aged.list_timetable_ages())


def observe_realtime(_options: CallbackOptions) -> Iterator[Observation]:
    """Tell the age of each feed's real time."""
    return _observe(age for aged in _list_watched() for age in aged.list_realtime_ages())


def _list_watched() -> list[Aged]:
    with _lock:
        return list(_AGED)


def _observe(ages: Iterable[Age]) -> Iterator[Observation]:
    """Tell of each network and feed the oldest: of several messages, a fresh one must not hide that another is not."""
    oldest: dict[tuple[str, str | None], float] = {}
    for network, feed, age_s in ages:
        oldest[network, feed] = max(age_s, oldest.get((network, feed), 0.0))
    for (network, feed), age_s in oldest.items():
        yield Observation(age_s, {NETWORK: network} if feed is None else {NETWORK: network, FEED: feed})
