"""TfL's stop ids (NaPTAN codes and hubs, all in capitals) beside printed ids (rule A8)."""

import re
from collections.abc import Iterable

from fingerpost.transit.engine.timetable.stop_ids import escape, print_feed_name, unescape

# Ids that stand for several stops: arrivals of these are always empty.
_GROUP = re.compile(r"HUB.+|490G.+", re.IGNORECASE)


class NaptanIds:
    """Prints TfL's ids under a network's name, and reads them back."""

    def __init__(self, name: str) -> None:
        self._feed = print_feed_name(name)

    def print(self, own_id: str) -> str:
        """Return the printed form of a TfL id."""
        return f"{self._feed}:{escape(own_id.upper())}"

    def find_own(self, printed: str) -> str | None:
        """Return TfL's id of a printed one, case ignored; None for another network's, or no id."""
        feed, colon, local = printed.strip().upper().partition(":")
        return unescape(local) if colon and local and feed == self._feed else None

    def list_own(self, printed: Iterable[str]) -> list[str]:
        """Return TfL's ids of printed ones, each once; others are left out."""
        found = (self.find_own(each) for each in printed)
        return list(dict.fromkeys(own_id for own_id in found if own_id is not None))


def is_group(own_id: str) -> bool:
    """Whether an id is a hub's or a group's of bus stops, at which nothing arrives by TfL's word."""
    return _GROUP.fullmatch(own_id) is not None
