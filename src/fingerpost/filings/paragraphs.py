"""Split text into paragraphs for search, and into pages for reading."""

import re
from collections.abc import Iterator

# A paragraph has at least this many characters, unless its section ends first; shorter lines, such as a heading and
# the rows of a table, are joined.
_MIN_PARAGRAPH = 700
_MAX_PARAGRAPH = 1_500
_LINE = re.compile(r"[^\n]+")


def split_paragraphs(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each paragraph; together they contain every line of the text."""
    paragraphs: list[tuple[int, int]] = []
    start = end = 0
    for line_start, line_end in _split_lines(text):
        if end > start and (end - start >= _MIN_PARAGRAPH or line_end - start > _MAX_PARAGRAPH):
            paragraphs.append((start, end))
            start = line_start
        start, end = (line_start if end == 0 else start), line_end
    return [*paragraphs, (start, end)] if end > start else paragraphs


def _split_lines(text: str) -> Iterator[tuple[int, int]]:
    """Return the start and end of each line; split a very long line after a sentence or a word."""
    for line in _LINE.finditer(text):
        start, end = line.span()
        while end - start > _MAX_PARAGRAPH:
            limit = start + _MAX_PARAGRAPH
            cut = text.rfind(". ", start, limit) + 1 or text.rfind(" ", start, limit) + 1 or limit
            yield start, cut
            start = cut
        yield start, end


def split_pages(text: str, max_bytes: int) -> list[str]:
    """Return pages of at most ``max_bytes``, which end at line ends or, in a long line, after a sentence or a word."""
    pages: list[str] = []
    page_start, page_end = 0, 0
    for _, end in _split_lines(text):
        if len(text[page_start:end].encode()) > max_bytes:
            pages.append(text[page_start:page_end].strip("\n"))
            page_start = page_end
        page_end = end
    return [*pages, text[page_start:].strip("\n")]
