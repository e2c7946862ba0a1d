"""A filing's HTML as plain text: one block a line, nothing that a reader does not see."""

import re
from html.parser import HTMLParser

_BLOCKS = frozenset({"p", "div", "br", "tr", "li", "table", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "section"})
_UNSEEN = frozenset({"script", "style", "head", "ix:header"})
_SPACES = re.compile(r"[ \t\r\f\v\u00a0]+")
_EMPTY_LINES = re.compile(r"\s*\n\s*")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _UNSEEN:
            self._unseen += 1
        if tag in _BLOCKS:
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN and self._unseen:
            self._unseen -= 1
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.pieces.append(data.replace("\n", " "))


def read_plain_text(content: bytes) -> str:
    """Return the text of a document, HTML or plain."""
    text = content.decode("utf-8", errors="replace")
    if "<" not in text[:2_000]:
        return text.strip()
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return _EMPTY_LINES.sub("\n", _SPACES.sub(" ", "".join(reader.pieces))).strip()
