"""What an answer says of feeds that have no service on the day of the question (warning ``feed-not-in-service``)."""

from collections.abc import Sequence
from datetime import date

from fingerpost.transit.model.provenance import OutOfService

# So many feeds are named; of more, the number is enough.
_MOST_NAMED = 6


def find_out_of_service_message(out_of_service: Sequence[OutOfService]) -> str | None:
    """Return the warning's message, naming each feed and since or until when it has no service; None for no feed."""
    if not out_of_service:
        return None
    named = _name(out_of_service)
    return f"No service on {_say_day(out_of_service)}, so what these run is missing here: {named}."


def find_out_of_service_hint(out_of_service: Sequence[OutOfService]) -> str | None:
    """Return what to do where nothing was found on a day on which feeds have no service; None for no feed."""
    if not out_of_service:
        return None
    hint = f"No service on {_say_day(out_of_service)}: {_name(out_of_service)}"
    later = [next_day for each in out_of_service if (next_day := each.feed.service.find_next_day(each.day))]
    if later:
        return f"{hint}. Try {min(later)}"
    last = [each.feed.last_day for each in out_of_service if each.feed.last_day is not None]
    return f"{hint}. Ask the operator for a newer timetable" + (f", or try a day up to {max(last)}" if last else "")


def _say_day(out_of_service: Sequence[OutOfService]) -> date:
    return out_of_service[0].day


def _name(out_of_service: Sequence[OutOfService]) -> str:
    told = [
        f"{each.feed.title} ({each.feed.service.say_state_on(each.day).removeprefix('no service, ')})"
        for each in out_of_service[:_MOST_NAMED]
    ]
    more = len(out_of_service) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")
