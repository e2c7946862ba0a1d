"""Fares of itineraries, from the products that the server names (GTFS Fares v2)."""

from collections.abc import Sequence
from decimal import Decimal

from fingerpost.transit.fares.money import print_amount
from fingerpost.transit.model.itinerary import Fare, Itinerary
from fingerpost.transit.remote.motis.shapes import FareTransfer, MotisFareProduct, MotisLeg

# Of a transfer only its own product is bought; or the first leg's and its own; else every leg's and its own.
_TRANSFER_ALONE, _FIRST_AND_TRANSFER = "AB", "A_AB"


def price(itinerary: Itinerary, transfers: Sequence[FareTransfer]) -> Fare | None:
    """Return what all rides cost an ordinary rider at least, or why that is unknown; None without rides."""
    if not itinerary.rides:
        return None
    for ride in itinerary.rides:
        own = ride.handle
        if not isinstance(own, MotisLeg) or own.fare_transfer_index is None or own.effective_fare_leg_index is None:
            return Fare(unknown=f"the server states no fare for {ride.line or 'a ride'}")
    bought: list[MotisFareProduct] = []
    for transfer in transfers:
        parts = _list_parts(transfer)
        if any(not each for each in parts):
            return Fare(unknown="the server names no ticket for a part of the trip")
        if any(product.amount is None for each in parts for product in each):
            return Fare(unknown="the server names a ticket without what it costs")
        bought += [min(each, key=lambda product: product.amount or 0.0) for each in parts]
    return _sum(bought) if bought else Fare(unknown="the server names no ticket")


def _list_parts(transfer: FareTransfer) -> list[list[MotisFareProduct]]:
    """Return what must be bought for a transfer: of each part, the products that an ordinary rider may choose from."""
    legs = [
        [product for rule in leg for product in rule if _is_for_anyone(product)]
        for leg in transfer.effective_fare_leg_products
    ]
    own = [product for product in transfer.transfer_products if _is_for_anyone(product)]
    if transfer.rule == _TRANSFER_ALONE:
        return [own]
    # A transfer without a product is free.
    between = [own] if transfer.rule is not None and own else []
    return [*(legs[:1] if transfer.rule == _FIRST_AND_TRANSFER else legs), *between]


def _is_for_anyone(product: MotisFareProduct) -> bool:
    category = product.rider_category
    return category is None or category.is_default_fare_category is not False


def _sum(bought: Sequence[MotisFareProduct]) -> Fare:
    currencies = {each.currency for each in bought}
    if len(currencies) > 1:
        return Fare(unknown=f"its parts are priced in {' and '.join(sorted(currencies))}")
    (currency,) = currencies
    total = sum((Decimal(str(each.amount)) for each in bought), Decimal(0))
    tickets = tuple(each.name for each in bought if each.name)
    return Fare(amount=print_amount(total, currency), currency=currency, tickets=tickets)
