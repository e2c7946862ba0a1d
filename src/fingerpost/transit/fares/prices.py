"""Compute the price of a trip for an ordinary rider from the fares in a GTFS feed.

With leg rules (fare_leg_rules.txt, fare_transfer_rules.txt), each ride is one leg. With tickets (fare_attributes.txt,
fare_rules.txt), the rides are divided among tickets.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from fingerpost.transit.fares.book import (
    TRANSFER_AND_LEG,
    TRANSFER_INSTEAD,
    FareBook,
    FareRide,
    FareUnknown,
    LegRule,
    Price,
    Ticket,
    TicketRule,
    TransferRule,
)

# No trip in a real feed has this many combinations of products.
_MAX_CHOICES = 1024


class _Option(NamedTuple):
    group: str
    amount: Decimal
    product_id: str


# Marks a fare transfer among more than two leg groups.
_MIXED = ("", "")


class _Payment(NamedTuple):
    """The amount paid up to and including ``leg``.

    The current fare transfer began with ride ``first_ride`` and has ``transfer_count`` transfers; ``groups`` are its
    two leg groups, or None before the first transfer.
    """

    amount: Decimal
    products: tuple[str, ...]
    leg: _Option
    first_ride: int
    transfer_count: int = 0
    groups: tuple[str, str] | None = None


def price_by_legs(book: FareBook, rides: Sequence[FareRide]) -> Price:
    """Return the lowest price for all rides under the leg rules; raise FareUnknown if it cannot be computed."""
    if book.joins_legs and len(rides) > 1:
        raise FareUnknown("rules that join legs (fare_leg_join_rules.txt) are not supported")
    rules_by_ride = [_match_rules(book, ride) for ride in rides]
    currencies = sorted({product.currency for product in book.products})
    price = _find_single_price(_find_cheapest(book, rides, rules_by_ride, currency) for currency in currencies)
    if price is None:
        raise FareUnknown("no fare products for riders in the default category cover all rides")
    return price


def _find_single_price(prices: Iterable[Price | None]) -> Price | None:
    known = [price for price in prices if price is not None]
    if len(known) > 1:
        raise FareUnknown("it is priced in several currencies")
    return known[0] if known else None


def _match_rules(book: FareBook, ride: FareRide) -> list[LegRule]:
    network = book.network_of.get(ride.route_id, "")
    from_areas, to_areas = (set(book.areas_of.get(stop, ())) for stop in (ride.stop_ids[0], ride.stop_ids[-1]))
    fields = ("network_id", {network} - {""}), ("from_area_id", from_areas), ("to_area_id", to_areas)

    def applies(rule: LegRule) -> bool:
        for name, ids in fields:
            required_id = getattr(rule, name)
            if required_id:
                if required_id not in ids:
                    return False
            elif not book.has_priority and any(getattr(other, name) in ids for other in book.leg_rules):
                # An empty field matches all values that do not appear in any rule.
                return False
        return True

    rules = [rule for rule in book.leg_rules if applies(rule)]
    highest = max((rule.priority for rule in rules), default=0)
    rules = [rule for rule in rules if rule.priority == highest]
    if not rules:
        raise FareUnknown(f"no fare rule applies to line {ride.line}")
    if any(rule.is_timed for rule in rules):
        raise FareUnknown(f"line {ride.line} has fares that depend on the time of day, which are not supported")
    return rules


def _find_cheapest(
    book: FareBook, rides: Sequence[FareRide], rules_by_ride: Sequence[Sequence[LegRule]], currency: str
) -> Price | None:
    amounts = {fare.fare_product_id: Decimal(fare.amount) for fare in book.products if fare.currency == currency}
    options: list[list[_Option]] = []
    for rules in rules_by_ride:
        leg_options: dict[str, _Option] = {}
        for rule in rules:
            amount = amounts.get(rule.fare_product_id)
            cheapest = leg_options.get(rule.leg_group_id)
            if amount is not None and (cheapest is None or amount < cheapest.amount):
                leg_options[rule.leg_group_id] = _Option(rule.leg_group_id, amount, rule.fare_product_id)
        options.append(list(leg_options.values()))
    if not all(options):
        return None
    ways = [_Payment(leg.amount, (leg.product_id,), leg, 0) for leg in options[0]]
    for index, legs in enumerate(options[1:], 1):
        ways = [way for paid in ways for leg in legs for way in _pay_leg(book, rides, paid, leg, index, amounts)]
        if len(ways) > _MAX_CHOICES:
            raise FareUnknown("there are too many ways to pay for it")
    best = min(ways, key=lambda paid: paid.amount)
    if best.amount < 0:
        raise FareUnknown("the feed's discounts exceed its prices")
    return Price(best.amount, currency, best.products)


def _pay_leg(
    book: FareBook, rides: Sequence[FareRide], paid: _Payment, leg: _Option, index: int, amounts: dict[str, Decimal]
) -> list[_Payment]:
    """Return the ways to pay for one more leg: with each transfer rule that applies, or without a transfer."""
    groups = (paid.leg.group, leg.group)
    rules = _match_transfers(book, rides, paid, groups, index)
    if not rules:
        return [_Payment(paid.amount + leg.amount, (*paid.products, leg.product_id), leg, index)]
    ways = []
    for rule in rules:
        if rule.fare_product_id and rule.fare_product_id not in amounts:
            raise FareUnknown(f"the transfer product {rule.fare_product_id} has no price for ordinary riders")
        amount, products = paid.amount, paid.products
        if rule.fare_transfer_type == TRANSFER_INSTEAD and paid.groups is None:
            # The transfer's price replaces the prices of both legs.
            amount, products = amount - paid.leg.amount, products[:-1]
        if rule.fare_product_id:
            amount, products = amount + amounts[rule.fare_product_id], (*products, rule.fare_product_id)
        if rule.fare_transfer_type == TRANSFER_AND_LEG:
            amount, products = amount + leg.amount, (*products, leg.product_id)
        current = groups if paid.groups in (None, groups) else _MIXED
        ways.append(_Payment(amount, products, leg, paid.first_ride, paid.transfer_count + 1, current))
    return ways


def _match_transfers(
    book: FareBook, rides: Sequence[FareRide], paid: _Payment, groups: tuple[str, str], index: int
) -> list[TransferRule]:
    from_group, to_group = groups
    if not (from_group and to_group):
        return []
    # An empty group in a rule matches all groups that do not appear in any rule.
    from_fallback = from_group if any(rule.from_leg_group_id == from_group for rule in book.transfer_rules) else ""
    to_fallback = to_group if any(rule.to_leg_group_id == to_group for rule in book.transfer_rules) else ""
    rules = [rule for rule in book.transfer_rules if (rule.from_leg_group_id, rule.to_leg_group_id) == groups]
    rules = rules or [
        rule
        for rule in book.transfer_rules
        if rule.from_leg_group_id in (from_group, from_fallback) and rule.to_leg_group_id in (to_group, to_fallback)
    ]
    rules = [rule for rule in rules if _applies(rule, rides, paid, groups, index)]
    limits = [rule.transfer_count for rule in rules if rule.transfer_count >= 0]
    if from_group == to_group and limits:
        rules = [rule for rule in rules if rule.transfer_count == min(limits)]
    return rules


def _applies(
    rule: TransferRule, rides: Sequence[FareRide], paid: _Payment, groups: tuple[str, str], index: int
) -> bool:
    is_mixed = paid.groups not in (None, groups)
    if groups[0] == groups[1] and rule.transfer_count >= 0:
        if is_mixed:
            raise FareUnknown("the feed does not specify the ride from which transfers count towards its limit")
        if rule.transfer_count < paid.transfer_count + 1:
            return False
    if rule.duration_limit_s is None:
        return True
    if is_mixed:
        raise FareUnknown("the feed does not specify the ride at which the time limit for its transfers starts")
    first, last = rides[paid.first_ride], rides[index]
    begin = first.departure if rule.duration_limit_type in (0, 1) else first.arrival
    end = last.departure if rule.duration_limit_type in (1, 2) else last.arrival
    return end - begin <= rule.duration_limit_s


def price_by_tickets(book: FareBook, rides: Sequence[FareRide]) -> Price:
    """Return the cheapest tickets that cover all rides; raise FareUnknown if there are none or a price is unknown."""
    rules: dict[str, list[TicketRule]] = {}
    for rule in book.ticket_rules:
        rules.setdefault(rule.fare_id, []).append(rule)
    spans = list(combinations(range(len(rides) + 1), 2))
    for ticket in book.tickets:
        if not ticket.price and any(_covers(book, rules, ticket, rides[begin:end]) for begin, end in spans):
            raise FareUnknown(f"the price of fare {ticket.fare_id} is invalid")
    currencies = sorted({ticket.currency for ticket in book.tickets if ticket.price})
    price = _find_single_price(_find_cheapest_tickets(book, rules, rides, currency) for currency in currencies)
    if price is None:
        raise FareUnknown(_explain_no_fare(book, rules, rides))
    return price


def _find_cheapest_tickets(
    book: FareBook, rules: dict[str, list[TicketRule]], rides: Sequence[FareRide], currency: str
) -> Price | None:
    tickets = [ticket for ticket in book.tickets if ticket.price and ticket.currency == currency]
    # best[n] is the cheapest way to pay for the first n rides.
    best: list[Price | None] = [Price(Decimal(0), currency, ())]
    for end in range(1, len(rides) + 1):
        options = [
            Price(paid.amount + Decimal(ticket.price), currency, (*paid.tickets, ticket.fare_id))
            for begin, paid in enumerate(best)
            for ticket in tickets
            if paid is not None and _covers(book, rules, ticket, rides[begin:end])
        ]
        best.append(min(options, key=lambda price: price.amount, default=None))
    return best[-1]


def _covers(book: FareBook, rules: dict[str, list[TicketRule]], ticket: Ticket, rides: Sequence[FareRide]) -> bool:
    if ticket.transfers is not None and len(rides) - 1 > ticket.transfers:
        return False
    # Without transfers, the duration limits the ticket itself.
    is_limited = ticket.transfer_duration_s is not None and (len(rides) > 1 or ticket.transfers == 0)
    if is_limited and rides[-1].arrival - rides[0].departure > (ticket.transfer_duration_s or 0):
        return False
    if ticket.agency_id and any(ride.agency_id != ticket.agency_id for ride in rides):
        return False
    if not book.ticket_rules:
        return True
    origin, destination = (book.zone_of.get(stop, "") for stop in (rides[0].stop_ids[0], rides[-1].stop_ids[-1]))
    zones = _list_zones(book, rides)
    matching_rules = [
        rule
        for rule in rules.get(ticket.fare_id, ())
        if rule.origin_id in ("", origin)
        and rule.destination_id in ("", destination)
        # The zones passed through must be exactly those in the rule.
        and (not rule.contains_ids or set(rule.contains_ids) == zones)
    ]
    return all(any(rule.route_id in ("", ride.route_id) for rule in matching_rules) for ride in rides)


def _list_zones(book: FareBook, rides: Sequence[FareRide]) -> set[str]:
    return {book.zone_of.get(stop, "") for ride in rides for stop in ride.stop_ids}


def _explain_no_fare(book: FareBook, rules: dict[str, list[TicketRule]], rides: Sequence[FareRide]) -> str:
    for ride in rides:
        if not any(_covers(book, rules, ticket, [ride]) for ticket in book.tickets):
            zones = ", ".join(sorted(zone or "none" for zone in _list_zones(book, [ride])))
            return f"no fare applies to line {ride.line}" + (f" (zones passed: {zones})" if book.zone_of else "")
    return "no fares cover all rides"
