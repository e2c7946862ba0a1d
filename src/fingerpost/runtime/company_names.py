"""Find tickers by company name: a well-known name, or the registered one without its legal form."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

# Names that the registered name does not begin with, and common ones for use before a company list is loaded.
WELL_KNOWN: Mapping[str, str] = {
    "alphabet": "GOOGL",
    "amazon": "AMZN",
    "apple": "AAPL",
    "berkshire": "BRK-B",
    "berkshirehathaway": "BRK-B",
    "coke": "KO",
    "facebook": "META",
    "google": "GOOGL",
    "jpmorgan": "JPM",
    "meta": "META",
    "microsoft": "MSFT",
    "netflix": "NFLX",
    "nvidia": "NVDA",
    "tesla": "TSLA",
    "walmart": "WMT",
}
_LEGAL_FORMS = frozenset({
    "inc", "incorporated", "corp", "corporation", "co", "company", "companies", "plc", "ltd", "limited", "llc", "lp",
    "sa", "nv", "ag", "se", "ab", "asa", "oyj", "spa", "kk", "holding", "holdings", "group", "the", "and", "de", "new",
})  # fmt: skip
# EDGAR writes the state of incorporation behind some names: "BEST BUY CO INC /MN/".
_STATE = re.compile(r"/[A-Za-z]{2,3}/?\s*$")


def name_words(name: str) -> list[str]:
    """Return the words of a company's name without accents, punctuation and legal forms."""
    plain = unicodedata.normalize("NFKD", _STATE.sub("", name)).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"['\u2019.]", "", plain)
    words = re.findall(r"[a-z0-9]+", plain)
    return [word for word in words if word not in _LEGAL_FORMS] or words


def name_key(name: str) -> str:
    """Return a key that different spellings of a name share: ``J.P. Morgan`` is ``jpmorgan``."""
    return "".join(name_words(name))


def begins_with(name: str, key: str) -> bool:
    """Whether a company's name begins with the words of a key."""
    prefix = ""
    for word in name_words(name):
        prefix += word
        if prefix == key:
            return True
    return False


def find_tickers(text: str, companies: Iterable[tuple[str, int, str]], *, all_are_known: bool) -> list[str]:
    """Return the tickers of the companies that a text may name; ``companies`` are (ticker, CIK, name).

    The beginning of a name matches only if ``companies`` is complete, because another company may share it.
    """
    key = name_key(text)
    if len(key) < 2:
        return []
    if key in WELL_KNOWN:
        return [WELL_KNOWN[key]]
    known = list(companies)
    matches = {cik: ticker for ticker, cik, name in reversed(known) if name_key(name) == key}
    if not matches and all_are_known:
        matches = {cik: ticker for ticker, cik, name in reversed(known) if begins_with(name, key)}
    return sorted(matches.values())
