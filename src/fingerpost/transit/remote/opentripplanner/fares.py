"""Fares of itineraries, from the products that the server names for each leg."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from fingerpost.transit.model.itinerary import Fare, Itinerary, Leg
from fingerpost.transit.remote.opentripplanner.shapes import FareProductUse, Money, OwnLeg

_Uses = Mapping[str, FareProductUse]
"""What may be bought for a leg, by the id of the purchase."""


def price(itinerary: Itinerary) -> Fare | None:
    """Return what all rides cost an ordinary rider, or why that is unknown; None without rides.

    One purchase that every ride can be ridden with beats several; among such the cheapest.
    Without one, each ride must have a single product, or nobody can say which would be bought.
    """
    if not itinerary.rides:
        return None
    by_ride = [_list_uses(leg) for leg in itinerary.rides]
    for leg, uses in zip(itinerary.rides, by_ride, strict=True):
        if not uses:
            return Fare(unknown=f"the server states no fare for {leg.line or 'a ride'}")
    shared = set.intersection(*(set(uses) for uses in by_ride))
    if shared:
        return _sum([min((by_ride[0][each] for each in sorted(shared)), key=_amount)])
    if any(len(uses) > 1 for uses in by_ride):
        return Fare(unknown="the server names several tickets, and not which of them are bought together")
    return _sum(list({name: use for uses in by_ride for name, use in uses.items()}.values()))


def _list_uses(leg: Leg) -> _Uses:
    """Return the products with a price that an ordinary rider may buy for a leg."""
    own = leg.handle
    uses = own.fare_products if isinstance(own, OwnLeg) else ()
    return {use.id: use for use in uses if _money(use) is not None and _is_for_anyone(use)}


def _is_for_anyone(use: FareProductUse) -> bool:
    category = None if use.product is None else use.product.rider_category
    return category is None or category.is_default is not False


def _money(use: FareProductUse) -> Money | None:
    return None if use.product is None else use.product.price


def _amount(use: FareProductUse) -> Decimal:
    money = _money(use)
    assert money is not None
    return Decimal(str(money.amount))


def _sum(uses: Sequence[FareProductUse]) -> Fare:
    currencies = {money.currency.code: money.currency.digits for use in uses if (money := _money(use)) is not None}
    if len(currencies) > 1:
        return Fare(unknown=f"its parts are priced in {' and '.join(sorted(currencies))}")
    (code, digits), *_ = currencies.items()
    total = sum((_amount(use) for use in uses), Decimal(0))
    return Fare(
        amount=f"{total:.{digits}f}",
        currency=code,
        tickets=tuple(use.product.id for use in uses if use.product is not None),
    )
