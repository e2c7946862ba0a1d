"""Read a filing's HTML document: its cover page, its plain text, and the items, paragraphs and pages of the text."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from html import unescape
from html.parser import HTMLParser
from itertools import groupby
from math import log1p
from pathlib import Path
from typing import NamedTuple

from fingerpost.runtime.text_table import read_text_table

_BLOCK_TAGS = frozenset({"p", "div", "br", "tr", "li", "table", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "section"})
_HIDDEN_TAGS = frozenset({"script", "style", "head", "ix:header"})
_SPACES = re.compile(r"[ \t\r\f\v\u00a0]+")
_LINE_BREAKS = re.compile(r"\s*\n\s*")


class _TextExtractor(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _HIDDEN_TAGS:
            self._hidden_depth += 1
        if tag in _BLOCK_TAGS:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN_TAGS and self._hidden_depth:
            self._hidden_depth -= 1
        if tag in _BLOCK_TAGS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden_depth:
            self.parts.append(data.replace("\n", " "))


def read_plain_text(content: bytes) -> str:
    text = content.decode("utf-8", errors="replace")
    if "<" not in text[:2_000]:
        return text.strip()
    extractor = _TextExtractor()
    extractor.feed(text)
    extractor.close()
    return _LINE_BREAKS.sub("\n", _SPACES.sub(" ", "".join(extractor.parts))).strip()


_COVER_FACT = re.compile(
    r"<ix:non(?:numeric|fraction)\b[^>]*\bname\s*=\s*[\"']dei:(\w+)[\"'][^>]*>(.*?)</ix:non", re.IGNORECASE | re.DOTALL
)
_TAGS = re.compile(r"<[^>]*>")
_DAY_FORMATS = ("%Y-%m-%d", "%B %d, %Y", "%d %B %Y", "%m/%d/%Y")


class CoverPage(NamedTuple):
    """The ``dei`` facts of a cover page in inline XBRL; ``period`` is the last day of the reporting period."""

    cik: int | None = None
    name: str | None = None
    form: str | None = None
    period: str | None = None


def read_cover_page(document: str) -> CoverPage:
    facts: dict[str, str] = {}
    for name, content in _COVER_FACT.findall(document):
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
        with suppress(ValueError):
            return datetime.strptime(text.replace(" ,", ","), day_format).date().isoformat()
    return None


FULL_TEXT, FRONT_MATTER, OTHER = "full_text", "front_matter", "other"

_MAX_TITLE_CHARS = 220
_HEADING = re.compile(
    r"^[ \t]*(?:part[ \t]+(?P<inline>i{1,3}|iv)\b[ \t,.:\u2014\u2013-]*)?items?[ \t\u00a0]+"
    r"(?P<number>[0-9]{1,2}(?:\.[0-9]{2})?(?:[ \t]?\(?[a-c]\b\)?|[a-c]\b)?)(?:[ \t]*(?:and|&|,)[ \t]*\d{1,2}[a-c]?\b)?"
    r"[ \t]*[.:)\u2014\u2013\u2012-]*[ \t]*(?P<title>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_PART = re.compile(r"^[ \t]*part[ \t]+(?P<part>i{1,3}|iv)\b[^\n]{0,60}$", re.IGNORECASE | re.MULTILINE)
_PAGE_NUMBER = re.compile(r"[\s.\u2026_]*(?:\d{1,3}|[ivx]{1,5}|n/?a)?[\s.]*$", re.IGNORECASE)
_CONTINUED = re.compile(r"[\s,.\u2014\u2013-]*\(?continued\)?[\s.]*$", re.IGNORECASE)


class _Heading(NamedTuple):
    """A line that looks like an item heading; ``body`` is the offset of the text below the line."""

    key: str
    number: str
    title: str
    section_type: str
    start: int
    body: int


class Section(NamedTuple):
    """A part of a filing's text; ``section_type`` is a short name such as ``risk_factors``."""

    section_type: str
    title: str
    text: str


def split_sections(text: str, form: str) -> list[Section]:
    """Split a filing's plain text into items, with a separate section for the text before the first item."""
    headings = _choose_headings(text, list(_list_headings(text, form)))
    if not headings:
        return [Section(FULL_TEXT, "Full text", text.strip())]
    front_matter = text[: headings[0].start].strip()
    sections = [Section(FRONT_MATTER, "Front matter", front_matter)] if front_matter else []
    for heading, end in zip(headings, _list_ends(headings, text), strict=True):
        title = f"Item {heading.number}. {heading.title}".rstrip(" .")
        sections.append(Section(heading.section_type, title, text[heading.body : end].strip()))
    return sections


def _list_ends(headings: Sequence[_Heading], text: str) -> list[int]:
    return [*(heading.start for heading in headings[1:]), len(text)]


def _list_headings(text: str, form: str) -> Iterator[_Heading]:
    parts = [(matched.start(), matched["part"].upper()) for matched in _PART.finditer(text)]
    for matched in _HEADING.finditer(text):
        number = re.sub(r"[^0-9.A-C]", "", matched["number"].upper())
        title, body = matched["title"], matched.end()
        if not _PAGE_NUMBER.sub("", title):
            # The title may be on the next line.
            next_line = re.compile(r"\n[ \t]*([^\n]*)").match(text, body)
            if next_line is not None and not _HEADING.match(next_line[1]):
                title, body = next_line[1], next_line.end()
        previous = (name for offset, name in reversed(parts) if offset <= matched.start())
        part = (matched["inline"] or next(previous, "")).upper()
        clean_title = _CONTINUED.sub("", _PAGE_NUMBER.sub("", " ".join(title.split())))
        keys = [number]
        if _classify_form(form) == "10-Q":
            # Item numbers restart at 1 in each part of a quarterly report.
            keys = [f"{part}.{number}"] if part in ("I", "II") else [f"I.{number}", f"II.{number}"]
        for key in keys:
            section_type = _classify_title(clean_title, key, form)
            if section_type is not None and len(clean_title) <= _MAX_TITLE_CHARS:
                yield _Heading(key, number, clean_title, section_type, matched.start(), body)
                break


def _choose_headings(text: str, headings: Sequence[_Heading]) -> list[_Heading]:
    """Choose at most one heading per item, in item order, with the most text below the chosen headings.

    Lengths are compared on a logarithmic scale, so that many short items outweigh a table of contents or a long
    preface.
    """
    if not headings:
        return []
    # Consecutive headings of the same item are page headers.
    merged = [next(repeated) for _, repeated in groupby(headings, key=lambda heading: heading.key)]
    bodies = [text[heading.body : end] for heading, end in zip(merged, _list_ends(merged, text), strict=True)]
    lengths = [len(_PAGE_NUMBER.sub("", body.strip())) for body in bodies]
    keys = [_sort_key(heading.key) for heading in merged]
    best: list[tuple[float, int]] = []
    for index, length in enumerate(lengths):
        candidates = [(best[other][0], other) for other in range(index) if keys[other] < keys[index]]
        total, previous = max(candidates, default=(0.0, -1))
        best.append((total + log1p(length), previous))
    chosen = []
    index = best.index(max(best))
    while index >= 0:
        if lengths[index]:
            chosen.append(merged[index])
        index = best[index][1]
    return chosen[::-1]


def _sort_key(key: str) -> tuple[int, int, str]:
    """Return the part, number and suffix of an item, such as ``1A``, ``II.1A`` or ``2.02``."""
    part, number, suffix = re.split(r"\.?(\d+)", key, maxsplit=1)
    return len(part), int(number), suffix


@cache
def _load_items() -> Mapping[str, Mapping[str, tuple[str, str]]]:
    """Return the section type and the title pattern of each item, by form and item."""
    items: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for form, item, section_type, pattern in read_text_table(Path(__file__).with_name("items.txt"), 4):
        items[form][item] = section_type, pattern
    return items


def _classify_form(form: str) -> str:
    base_form = form.upper().removesuffix("/A")
    return next(
        (kind for kind in ("10-K", "10-Q") if base_form.startswith(kind)), "8-K" if base_form == "8-K" else OTHER
    )


def _classify_title(title: str, key: str, form: str) -> str | None:
    """Return the section type for an item and its title, or None if the title does not fit the item."""
    base_form = _classify_form(form)
    items = _load_items()[base_form]
    if base_form == OTHER:
        kinds = (kind for kind, words in items.values() if title.lower().startswith(words))
        return next(kinds, OTHER) if title else None
    if key not in items:
        return OTHER if base_form == "8-K" and re.fullmatch(r"\d\.\d\d", key) else None
    section_type, pattern = items[key]
    words = re.sub(r"^[^\w(\[]*[(\[]?", "", title)
    return section_type if re.match(f"(?:{pattern})", words, re.IGNORECASE) else None


_PARTS_10_K = ("I", "II", "III", "IV")
_ITEM = re.compile(
    r"(?:part\s*)?(?:(?P<part>i{1,3}|iv)\b[\s.,]*)?(?:items?\s*)?"
    r"(?P<number>\d{1,2}(?:\.\d\d)?)\s*(?P<letter>\(?[a-c]\)?)?",
    re.IGNORECASE,
)


def match_sections(form: str, sections: Sequence[Section], item: str) -> list[Section]:
    """Return the sections that ``item`` refers to.

    ``item`` is an item number (such as ``1A``, ``II.1A`` or ``2.02``), a section type, or the first words of a title.
    """
    query = item.strip().rstrip(".:")
    words = _fold_words(query)
    by_type = [section for section in sections if section.section_type.replace("_", " ") == words]
    number = _ITEM.fullmatch(query)
    if number is None or by_type:
        matches = (each for each in sections if _fold_words(each.title.partition(". ")[2]).startswith(words))
        return by_type or (list(matches) if words else [])
    part = (number["part"] or "").upper()
    base_form = _classify_form(form)
    # In a 10-K, Parts I, II and III end with Items 4, 9 and 14.
    if base_form == "10-K" and part not in ("", _PARTS_10_K[bisect_left((4, 9, 14), float(number["number"]))]):
        return []
    prefix = f"Item {re.sub(r'[^0-9.A-C]', '', (number['number'] + (number['letter'] or '')).upper())}."
    keys = {kind: key for key, (kind, _) in _load_items()["10-Q"].items()}
    return [
        section
        for section in sections
        if f"{section.title}.".startswith(prefix)
        and not re.match(r"\d", section.title[len(prefix) :])
        and (not part or base_form != "10-Q" or keys.get(section.section_type, "").partition(".")[0] == part)
    ]


def _fold_words(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).lower()


# Shorter lines, such as headings and table rows, are joined until a paragraph has this many characters or the section
# ends.
_MIN_PARAGRAPH_CHARS = 700
_MAX_PARAGRAPH_CHARS = 1_500
_LINE = re.compile(r"[^\n]+")


def split_paragraphs(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each paragraph; every line of the text belongs to a paragraph."""
    paragraphs: list[tuple[int, int]] = []
    start = end = 0
    for line_start, line_end in _split_lines(text):
        if end > start and (end - start >= _MIN_PARAGRAPH_CHARS or line_end - start > _MAX_PARAGRAPH_CHARS):
            paragraphs.append((start, end))
            start = line_start
        start, end = (line_start if end == 0 else start), line_end
    return [*paragraphs, (start, end)] if end > start else paragraphs


def _split_lines(text: str) -> Iterator[tuple[int, int]]:
    """Return the start and end of each line; very long lines are split after a sentence or a word."""
    for line in _LINE.finditer(text):
        start, end = line.span()
        while end - start > _MAX_PARAGRAPH_CHARS:
            limit = start + _MAX_PARAGRAPH_CHARS
            cut = text.rfind(". ", start, limit) + 1 or text.rfind(" ", start, limit) + 1 or limit
            yield start, cut
            start = cut
        yield start, end


def split_pages(text: str, max_bytes: int) -> list[str]:
    """Split text into pages of at most ``max_bytes``, at line ends or, in long lines, after a sentence or word."""
    pages: list[str] = []
    page_start, page_end = 0, 0
    for _, end in _split_lines(text):
        if len(text[page_start:end].encode()) > max_bytes:
            pages.append(text[page_start:page_end].strip("\n"))
            page_start = page_end
        page_end = end
    return [*pages, text[page_start:].strip("\n")]
