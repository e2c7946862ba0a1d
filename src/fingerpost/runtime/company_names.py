"""Find tickers by company name: well-known names, and registered names without the legal form."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import Path

from fingerpost.runtime.text_table import read_text_table

# Names that differ from the registered name, and names that must work before a company list is loaded.
WELL_KNOWN: Mapping[str, str] = dict(read_text_table(Path(__file__).with_name("well_known_companies.txt"), 2))
_IGNORED_WORDS = frozenset({
    "inc", "incorporated", "corp", "corporation", "co", "company", "companies", "plc", "ltd", "limited", "llc", "lp",
    "sa", "nv", "ag", "se", "ab", "asa", "oyj", "spa", "kk", "holding", "holdings", "group", "the", "and", "de", "new",
})  # fmt: skip
# EDGAR appends the state of incorporation to some names: "BEST BUY CO INC /MN/".
_STATE = re.compile(r"/[A-Za-z]{2,3}/?\s*$")


def split_company_name(name: str) -> list[str]:
    """Return the words of a company's name without accents, punctuation or legal forms."""
    plain = unicodedata.normalize("NFKD", _STATE.sub("", name)).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"['\u2019.]", "", plain)
    words = re.findall(r"[a-z0-9]+", plain)
    return [word for word in words if word not in _IGNORED_WORDS] or words


def build_name_key(name: str) -> str:
    """Normalize the spelling of a company's name: ``J.P. Morgan`` becomes ``jpmorgan``."""
    return "".join(split_company_name(name))


def begins_with(name: str, key: str) -> bool:
    """Whether the first words of a company's name, joined together, equal ``key``."""
    return key in accumulate(split_company_name(name))


def find_tickers(text: str, companies: Iterable[tuple[str, int, str]]) -> list[str]:
    """Return the tickers of companies called ``text``; ``companies`` contains (ticker, CIK, name)."""
    key = build_name_key(text)
    if len(key) < 2:
        return []
    if key in WELL_KNOWN:
        return [WELL_KNOWN[key]]
    matches = {cik: ticker for ticker, cik, name in reversed(list(companies)) if build_name_key(name) == key}
    return sorted(matches.values())
