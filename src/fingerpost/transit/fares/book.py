"""The fares in a GTFS feed: tickets, products, rules and amounts of money."""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from pydantic import TypeAdapter

_AMOUNT = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,12})?")
_CURRENCY = re.compile(r"[A-Za-z]{3}")
_DEFAULT_DIGITS = 2
# ISO 4217: the number of decimal places of currencies whose minor unit is not a hundredth.
_DIGITS = {
    code: digits
    for digits, codes in (
        (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
        (3, "BHD IQD JOD KWD LYD OMR TND"),
        (4, "CLF UYW"),
    )
    for code in codes.split()
}


def parse_amount(text: str) -> Decimal | None:
    return Decimal(text) if _AMOUNT.fullmatch(text) else None


def parse_currency(text: str) -> str | None:
    return text.upper() if _CURRENCY.fullmatch(text) else None


def format_amount(amount: Decimal, currency: str) -> str:
    """Format an amount with its currency's decimal places, or with more if it has more; never round."""
    digits = max(_DIGITS.get(currency, _DEFAULT_DIGITS), -int(amount.normalize().as_tuple().exponent))
    return f"{amount:.{digits}f}"


class FareRide(NamedTuple):
    """One ride, with ids from the feed, scheduled times in Unix seconds, and all stops in order."""

    line: str
    route_id: str
    agency_id: str
    stop_ids: tuple[str, ...]
    departure: int
    arrival: int


class Price(NamedTuple):
    amount: Decimal
    currency: str
    tickets: tuple[str, ...]


class FareUnknown(Exception):
    """The price of a trip is unknown; the message gives the reason as a clause."""


# fare_transfer_type in fare_transfer_rules.txt: what is added to the amount paid so far.
TRANSFER_ONLY, TRANSFER_AND_LEG, TRANSFER_INSTEAD = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A row of fare_attributes.txt; ``price`` is empty if it is invalid; None and "" in other fields mean no limit."""

    fare_id: str
    price: str
    currency: str
    transfers: int | None
    transfer_duration_s: int | None
    agency_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRule:
    """Rows of fare_rules.txt that differ only in contains_id; empty fields match all rides."""

    fare_id: str
    route_id: str = ""
    origin_id: str = ""
    destination_id: str = ""
    contains_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LegRule:
    """A row of fare_leg_rules.txt; ``is_timed`` is True if it applies only at certain times."""

    leg_group_id: str
    network_id: str
    from_area_id: str
    to_area_id: str
    fare_product_id: str
    priority: int = 0
    is_timed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRule:
    """A row of fare_transfer_rules.txt; ``transfer_count`` is -1 for any number."""

    from_leg_group_id: str
    to_leg_group_id: str
    transfer_count: int
    duration_limit_s: int | None
    duration_limit_type: int
    fare_transfer_type: int
    fare_product_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The lowest price of a fare product for an ordinary rider in one currency."""

    fare_product_id: str
    amount: str
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FareBook:
    """The fares of one feed, defined by tickets or leg rules.

    ``zone_of`` and ``areas_of`` are keyed by stop id, ``network_of`` by route id. ``has_priority`` is True if leg rules
    have priorities. ``problem`` says why no price is reliable, or is empty.
    """

    tickets: tuple[Ticket, ...] = ()
    ticket_rules: tuple[TicketRule, ...] = ()
    zone_of: dict[str, str] = field(default_factory=dict)
    leg_rules: tuple[LegRule, ...] = ()
    transfer_rules: tuple[TransferRule, ...] = ()
    products: tuple[Product, ...] = ()
    network_of: dict[str, str] = field(default_factory=dict)
    areas_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    has_priority: bool = False
    joins_legs: bool = False
    problem: str = ""

    def to_json(self) -> str:
        return _book_adapter().dump_json(self).decode()

    @staticmethod
    def from_json(text: str) -> "FareBook":
        return _book_adapter().validate_json(text)


@cache
def _book_adapter() -> TypeAdapter[FareBook]:
    return TypeAdapter(FareBook)
