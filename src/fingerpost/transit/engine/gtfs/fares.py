"""Fares: by tickets (``fare_attributes.txt``, ``fare_rules.txt``), or by legs where a feed has those (fare_legs.py)."""

from dataclasses import replace

from fingerpost.transit.engine.gtfs.csv import Archive, Reason, find_integer
from fingerpost.transit.engine.gtfs.fare_legs import find_fault, read_leg_fares
from fingerpost.transit.fares.book import FareBook, Ticket, TicketRule
from fingerpost.transit.fares.money import find_amount, find_currency

_TRANSFERS = {"0": 0, "1": 1, "2": 2, "": None}
_TICKET_COLUMNS = ("fare_id", "price", "currency_type", "transfers", "transfer_duration", "agency_id")


def read_fares(archive: Archive) -> FareBook | None:
    """Return what the feed says of fares, None where it says nothing.

    Of the two models a feed may have, that of legs counts (GTFS Schedule reference, fare_attributes.txt).
    """
    book = read_leg_fares(archive)
    table = archive.find_extra("fare_attributes.txt", "fare_id", "price", "currency_type")
    if book is not None or table is None:
        if book is not None and table is not None:
            archive.findings.add(Reason.FARES_OF_FIRST_VERSION_UNAPPLIED, table.name, 1)
        return book
    tickets: dict[str, Ticket] = {}
    lines: dict[str, int] = {}
    for line, (fare_id, price, currency_text, transfers, duration, agency_id) in table.rows(*_TICKET_COLUMNS):
        if not fare_id or fare_id in tickets:
            table.note(Reason.ID_REPEATED if fare_id else Reason.ID_MISSING, line, "fare_id")
            continue
        amount, currency = find_amount(price), find_currency(currency_text)
        seconds = find_integer(duration) if duration else None
        sound = amount is not None and amount >= 0 and currency is not None and transfers in _TRANSFERS
        if not sound or (duration and (seconds is None or seconds < 0)):
            table.note(Reason.FARE_UNREADABLE, line)
            price = ""
        lines[fare_id] = line
        tickets[fare_id] = Ticket(
            fare_id=fare_id,
            price=price,
            currency=currency or "",
            transfers=_TRANSFERS.get(transfers),
            transfer_duration_s=seconds,
            agency_id=agency_id,
        )
    if not tickets:
        return None
    book = _with_rules(archive, tickets)
    if book.ticket_rules:
        for fare_id in tickets.keys() - {rule.fare_id for rule in book.ticket_rules}:
            table.note(Reason.FARE_WITHOUT_RULE_UNAPPLIED, lines[fare_id], "fare_id")
    return book


def _with_rules(archive: Archive, tickets: dict[str, Ticket]) -> FareBook:
    book = FareBook(tickets=tuple(tickets.values()))
    table = archive.find_extra("fare_rules.txt", "fare_id")
    if table is None:
        return replace(book, problem=find_fault(archive, "fare_rules.txt", "fare_id"))
    strays = 0
    contains: dict[tuple[str, str, str, str], list[str]] = {}
    for line, (*key, zone) in table.rows("fare_id", "route_id", "origin_id", "destination_id", "contains_id"):
        fare_id, route, origin, destination = key
        if fare_id not in tickets:
            table.note(Reason.FARE_RULE_OF_UNKNOWN_FARE, line, "fare_id")
            strays += 1
            continue
        zones = contains.setdefault((fare_id, route, origin, destination), [])
        if zone:
            zones.append(zone)
    if strays and not contains:
        # Without rules every ticket is for everything, which this feed does not mean.
        return replace(book, problem="no rule of fare_rules.txt is for a fare that is there")
    rules = tuple(
        TicketRule(
            fare_id=fare_id, route_id=route, origin_id=origin, destination_id=destination, contains_ids=tuple(zones)
        )
        for (fare_id, route, origin, destination), zones in contains.items()
    )
    names_zones = any(rule.origin_id or rule.destination_id or rule.contains_ids for rule in rules)
    return replace(book, ticket_rules=rules, zone_of=_read_zones(archive) if names_zones else {})


def _read_zones(archive: Archive) -> dict[str, str]:
    table = archive.find_aside("stops.txt")
    return {} if table is None else {stop: zone for _, (stop, zone) in table.rows("stop_id", "zone_id") if zone}
