"""Read the cover page of a filing from its inline XBRL: company, form and period (``dei`` facts)."""

import re
from dataclasses import dataclass
from datetime import datetime
from html import unescape

_FACT = re.compile(
    r"<ix:non(?:numeric|fraction)\b[^>]*\bname\s*=\s*[\"']dei:(\w+)[\"'][^>]*>(.*?)</ix:non", re.IGNORECASE | re.DOTALL
)
_TAGS = re.compile(r"<[^>]*>")
_DAY_FORMATS = ("%Y-%m-%d", "%B %d, %Y", "%d %B %Y", "%m/%d/%Y")


@dataclass(frozen=True, slots=True)
class CoverPage:
    """The cover page; absent facts are None. ``period`` is the last day of the report's period."""

    cik: int | None = None
    name: str | None = None
    form: str | None = None
    period: str | None = None


def read_cover_page(document: str) -> CoverPage:
    facts: dict[str, str] = {}
    for name, content in _FACT.findall(document):
        text = " ".join(unescape(_TAGS.sub(" ", content)).split())
        facts.setdefault(name, text)
    cik = facts.get("EntityCentralIndexKey", "")
    return CoverPage(
        cik=int(cik) if cik.isascii() and cik.isdigit() else None,
        name=facts.get("EntityRegistrantName") or None,
        form=facts.get("DocumentType", "").upper() or None,
        period=_parse_day(facts.get("DocumentPeriodEndDate", "")),
    )


def _parse_day(text: str) -> str | None:
    for day_format in _DAY_FORMATS:
        try:
            return datetime.strptime(text.replace(" ,", ","), day_format).date().isoformat()
        except ValueError:
            continue
    return None
