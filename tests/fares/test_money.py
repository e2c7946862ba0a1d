"""Amounts of money: exact, and written as their currency is."""

from decimal import Decimal

import pytest

from fingerpost.transit.fares.book import find_amount, find_currency, print_amount


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [
        ("2.8", "EUR", "2.80"),
        ("2.800000", "EUR", "2.80"),
        ("210", "JPY", "210"),
        ("210.0", "JPY", "210"),
        ("1.5", "KWD", "1.500"),
        ("2.805", "EUR", "2.805"),
        ("0", "USD", "0.00"),
        ("100", "USD", "100.00"),
    ],
)
def test_digits(amount, currency, written):
    """An amount has its currency's digits (ISO 4217), more where the feed needs them; nothing is rounded."""
    assert print_amount(Decimal(amount), currency) == written


@pytest.mark.parametrize("text", ["", "free", "1e3", "2,80", "NaN", "1.", ".5", "\u0663.\u0665"])
def test_what_is_no_amount(text):
    """Anything but digits and a point is no amount."""
    assert find_amount(text) is None


@pytest.mark.parametrize(
    ("text", "code"), [("EUR", "EUR"), ("eur", "EUR"), ("EURO", None), ("", None), ("€", None), ("\u017fek", None)]
)
def test_currency(text, code):
    """A currency is a code of three letters."""
    assert find_currency(text) == code
