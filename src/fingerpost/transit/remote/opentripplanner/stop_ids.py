"""OpenTripPlanner's stop ids (``feed:local``, case counts) beside printed ids, which are upper case (rule A8)."""

from collections.abc import Iterable
from functools import lru_cache

from fingerpost.transit.engine.timetable.stop_ids import escape, print_feed_name, unescape

# Ids are remembered up to this many.
_MOST_KEPT = 200_000


class StopIdBook:
    """Prints the ids of one server, and finds the server's own id of a printed one.

    Upper-casing cannot be undone, so each id is stored when it is printed.

    Args:
        feed_ids: the server's feeds as it spells them.
    """

    def __init__(self, feed_ids: Iterable[str]) -> None:
        self._feed_by_printed = {print_feed_name(feed_id): feed_id for feed_id in feed_ids}
        self._own_by_printed: dict[str, str] = {}
        self._printed_by_own: dict[str, str] = {}

    def print(self, own_id: str) -> str:
        """Return the printed form of a server's id; of two that differ only in case, the later one is escaped."""
        printed = self._printed_by_own.get(own_id)
        if printed is None:
            if len(self._printed_by_own) > _MOST_KEPT:
                self._printed_by_own.clear()
            printed = self._printed_by_own[own_id] = self._print(own_id)
        return printed

    def _print(self, own_id: str) -> str:
        if len(self._own_by_printed) > _MOST_KEPT:
            self._own_by_printed.clear()
        feed_id, _, local = own_id.partition(":")
        feed = print_feed_name(feed_id)
        printed = f"{feed}:{escape(local.upper())}"
        if self._own_by_printed.get(printed, own_id) != own_id:
            printed = f"{feed}:{escape(local)}"
        while self._own_by_printed.setdefault(printed, own_id) != own_id:
            printed += "-"
        return printed

    def list_own(self, printed: str) -> list[str]:
        """Return what a printed id, case ignored, may be on the server, the likeliest first; empty for no id."""
        wanted = printed.strip().upper()
        feed, colon, local = wanted.partition(":")
        if not colon or not local:
            return []
        plain = self._undo(feed, local)
        found = [
            self._own_by_printed.get(wanted),
            plain,
            plain.partition(":")[0] + ":" + plain.partition(":")[2].lower(),
        ]
        return list(dict.fromkeys(own_id for own_id in found if own_id))

    def _undo(self, feed: str, local: str) -> str:
        return f"{self._feed_by_printed.get(feed, feed)}:{unescape(local)}"


_print_feed = lru_cache(maxsize=1024)(print_feed_name)


def print_trip_id(own_id: str) -> str:
    """Return a trip's id as answers show it: the FEED in its printed form, and the feed's own id."""
    feed_id, _, local = own_id.partition(":")
    return f"{_print_feed(feed_id)}:{local}"
