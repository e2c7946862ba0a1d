"""Amounts of money as exact decimal numbers, and how many digits a currency is written with."""

import re
from decimal import Decimal

_AMOUNT = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,12})?")
_CURRENCY = re.compile(r"[A-Za-z]{3}")
_USUAL_DIGITS = 2
# ISO 4217, the currencies whose minor unit is not a hundredth.
_WITHOUT_MINOR_UNIT = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_OF_THOUSANDTHS = "BHD IQD JOD KWD LYD OMR TND"
_OF_TEN_THOUSANDTHS = "CLF UYW"
_DIGITS = {
    code: digits
    for digits, codes in ((0, _WITHOUT_MINOR_UNIT), (3, _OF_THOUSANDTHS), (4, _OF_TEN_THOUSANDTHS))
    for code in codes.split()
}


def find_amount(text: str) -> Decimal | None:
    """Return an amount written with digits and a point, or None."""
    return Decimal(text) if _AMOUNT.fullmatch(text) else None


def find_currency(text: str) -> str | None:
    """Return a code of three letters in upper case (ISO 4217), or None."""
    return text.upper() if _CURRENCY.fullmatch(text) else None


def print_amount(amount: Decimal, currency: str) -> str:
    """Return an amount with as many digits as its currency has, or more where it needs them; nothing is rounded."""
    digits = max(_DIGITS.get(currency, _USUAL_DIGITS), -int(amount.normalize().as_tuple().exponent))
    return f"{amount:.{digits}f}"
