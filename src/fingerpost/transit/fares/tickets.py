"""Fares by tickets: fare_attributes.txt and fare_rules.txt (GTFS Schedule reference, and the examples beside it).

A trip's rides are shared out among tickets, each for rides that follow one another; the least sum is the price.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from fingerpost.transit.fares.book import FareBook, FareRide, FareUnknown, Price, Ticket, TicketRule


def price_by_tickets(book: FareBook, rides: Sequence[FareRide]) -> Price:
    """Return the cheapest tickets that cover all rides.

    Raises:
        FareUnknown: no tickets do, or the feed does not say what one of them costs, or not in one currency.
    """
    rules: dict[str, list[TicketRule]] = {}
    for rule in book.ticket_rules:
        rules.setdefault(rule.fare_id, []).append(rule)
    for ticket in book.tickets:
        if not ticket.price and any(_covers(book, rules, ticket, part) for part in _stretches(rides)):
            raise FareUnknown(f"the price of fare {ticket.fare_id} cannot be read")
    found = [
        price
        for currency in sorted({ticket.currency for ticket in book.tickets if ticket.price})
        if (price := _cheapest(book, rules, rides, currency)) is not None
    ]
    if not found:
        raise FareUnknown(_reason(book, rules, rides))
    if len(found) > 1:
        raise FareUnknown("it is priced in several currencies")
    return found[0]


def _cheapest(
    book: FareBook, rules: dict[str, list[TicketRule]], rides: Sequence[FareRide], currency: str
) -> Price | None:
    """Return the least sum in one currency, or None where some ride has no ticket in it."""
    best: list[Price | None] = [Price(Decimal(0), currency, ())] + [None] * len(rides)
    for end in range(1, len(rides) + 1):
        for begin in range(end):
            paid = best[begin]
            if paid is None:
                continue
            for ticket in book.tickets:
                if not ticket.price or ticket.currency != currency:
                    continue
                if not _covers(book, rules, ticket, rides[begin:end]):
                    continue
                known, amount = best[end], paid.amount + Decimal(ticket.price)
                if known is None or amount < known.amount:
                    best[end] = Price(amount, currency, (*paid.tickets, ticket.fare_id))
    return best[-1]


def _stretches(rides: Sequence[FareRide]) -> Iterator[Sequence[FareRide]]:
    return (rides[begin:end] for begin in range(len(rides)) for end in range(begin + 1, len(rides) + 1))


def _covers(book: FareBook, rules: dict[str, list[TicketRule]], ticket: Ticket, rides: Sequence[FareRide]) -> bool:
    if ticket.transfers is not None and len(rides) - 1 > ticket.transfers:
        return False
    # Where no change is permitted, the duration is how long the ticket itself is valid.
    is_limited = ticket.transfer_duration_s is not None and (len(rides) > 1 or ticket.transfers == 0)
    if is_limited and rides[-1].arrival - rides[0].departure > (ticket.transfer_duration_s or 0):
        return False
    if ticket.agency_id and any(ride.agency_id != ticket.agency_id for ride in rides):
        return False
    if not book.ticket_rules:
        return True
    origin, destination = (book.zone_of.get(stop, "") for stop in (rides[0].stop_ids[0], rides[-1].stop_ids[-1]))
    zones = _zones(book, rides)
    fitting = [
        rule
        for rule in rules.get(ticket.fare_id, ())
        if rule.origin_id in ("", origin)
        and rule.destination_id in ("", destination)
        # The zones that are passed through must be exactly those of the rule.
        and (not rule.contains_ids or set(rule.contains_ids) == zones)
    ]
    return all(any(rule.route_id in ("", ride.route_id) for rule in fitting) for ride in rides)


def _zones(book: FareBook, rides: Sequence[FareRide]) -> set[str]:
    return {book.zone_of.get(stop, "") for ride in rides for stop in ride.stop_ids}


def _reason(book: FareBook, rules: dict[str, list[TicketRule]], rides: Sequence[FareRide]) -> str:
    for ride in rides:
        if not any(_covers(book, rules, ticket, [ride]) for ticket in book.tickets):
            zones = ", ".join(sorted(zone or "none" for zone in _zones(book, [ride])))
            return f"no fare is for line {ride.line}" + (f" (zones passed: {zones})" if book.zone_of else "")
    return "no fares cover all rides"
