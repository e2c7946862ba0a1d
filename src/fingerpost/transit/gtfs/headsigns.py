"""Headsigns, each kept once for a whole network."""


class Headsigns:
    """A growing pool of texts.

    Attributes:
        texts: all of them, in the order of their rows.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._index: dict[str, int] = {}

    def row(self, text: str) -> int:
        """Return the row of a text, adding it if it is new; -1 for an empty one."""
        if not text:
            return -1
        row = self._index.setdefault(text, len(self.texts))
        if row == len(self.texts):
            self.texts.append(text)
        return row
