"""MOTIS' stop ids (``tag_local``, split at the first underscore; case counts) beside printed ids (rule A8).

A feed whose tag was learned is a FEED of its own: ``hsl_1040601`` is ``HSL:1040601``, as any network with that feed
prints it. A server that cannot list its feeds has one FEED, the network's name, before the whole id:
``NL:NL-OVAPI_X`` is ``nl-ovapi_x``. Where that name is also a feed, a second colon tells the two apart.

Case is undone by the rule that printed it: an id in one case only is raised to upper case, and may be either of two on
the server; the small letters of an id in both cases are escaped, so that it is found exactly.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date

from fingerpost.transit.engine.timetable.stop_ids import escape, print_feed_name, unescape

# Ids are remembered up to this many.
_MOST_KEPT = 200_000
_TRIP_ID = re.compile(r"(?P<day>\d{8})_(?P<time>[^_]*)_(?P<id>.+)", re.DOTALL)


class MotisStopIds:
    """Prints the ids of one server, and finds the server's own id of a printed one.

    Args:
        network: the network's name.
        tags: the server's feeds as it spells them; empty where they are not known.
    """

    def __init__(self, network: str, tags: Iterable[str] = ()) -> None:
        self._tag_by_feed: dict[str, str] = {}
        for tag in tags:
            self._tag_by_feed.setdefault(print_feed_name(tag), tag)
        self._network = print_feed_name(network)
        # Before an id whose feed was not learned.
        self._whole = "::" if self._network in self._tag_by_feed else ":"
        self._own_by_printed: dict[str, str] = {}
        self._printed_by_own: dict[str, str] = {}

    def print(self, own_id: str) -> str:
        """Return the printed form of a server's id; of two that differ in case only the later is escaped."""
        printed = self._printed_by_own.get(own_id)
        if printed is None:
            if len(self._printed_by_own) > _MOST_KEPT:
                self._printed_by_own.clear()
                self._own_by_printed.clear()
            printed = self._print(own_id, exact=False)
            if self._own_by_printed.setdefault(printed, own_id) != own_id:
                printed = self._print(own_id, exact=True)
                self._own_by_printed[printed] = own_id
            self._printed_by_own[own_id] = printed
        return printed

    def list_own(self, printed: str) -> list[str]:
        """Return what a printed id, case ignored, may be on the server, the likeliest first; empty for no id of it."""
        wanted = printed.strip().upper()
        known = self._own_by_printed.get(wanted)
        if known is not None:
            return [known]
        feed, _, local = wanted.partition(":")
        if feed == self._network and wanted.startswith(feed + self._whole):
            whole = wanted[len(feed + self._whole) :]
            tag, underscore, rest = unescape(whole).partition("_")
            found = (f"{one}{underscore}{other}" for one in _cases(tag) for other in _cases(rest))
            return list(dict.fromkeys(found)) if whole else []
        known_tag = self._tag_by_feed.get(feed)
        if known_tag is None or not local:
            return []
        return [f"{known_tag}_{each}" for each in _cases(unescape(local))]

    def print_trip(self, own_id: str) -> str:
        """Return a trip's id as answers show it: its FEED in the printed form, and the feed's own id."""
        match = _TRIP_ID.fullmatch(own_id)
        whole = match["id"] if match else own_id
        tag, _, local = whole.partition("_")
        feed = print_feed_name(tag)
        return f"{feed}:{local}" if self._tag_by_feed.get(feed) == tag else f"{self._network}:{whole}"

    def _print(self, own_id: str, *, exact: bool) -> str:
        tag, underscore, local = own_id.partition("_")
        feed = print_feed_name(tag)
        raised = local if exact else _raise(local)
        if underscore and self._tag_by_feed.get(feed) == tag:
            # A colon here would be taken for the second one of a whole id.
            first = "_3A" if raised.startswith(":") else ""
            return f"{feed}:{first}{escape(raised[1:] if first else raised)}"
        return f"{self._network}{self._whole}{escape(f'{tag if exact else _raise(tag)}{underscore}{raised}')}"


def find_service_day(own_trip_id: str) -> date | None:
    """Return the service day that a trip's id begins with, None where it does not."""
    match = _TRIP_ID.fullmatch(own_trip_id)
    try:
        return date.fromisoformat(match["day"]) if match else None
    except ValueError:
        return None


def _raise(text: str) -> str:
    """Return a text of small letters in capitals; one in both cases stays, and so does what has no capitals."""
    raised = text.upper()
    return raised if raised.lower() == text else text


def _cases(text: str) -> Iterator[str]:
    """Yield what a text may have been before it was raised; small letters are exact."""
    yield text
    # Not islower(): a letter such as º is small and has no capital.
    if all(each.upper() == each for each in text) and text.lower() != text:
        yield text.lower()
