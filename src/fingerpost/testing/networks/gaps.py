"""The three honest words for what a source does not do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    """A fact, or an ability, that a source is known to lack, and why. Take one of the three kinds below."""

    reason: str

    def __str__(self) -> str:
        """Return the word and the reason."""
        return f"{self.word}: {self.reason}"

    @property
    def word(self) -> str:
        """The kind of gap in words."""
        return _WORDS.get(type(self), "gap")


class NotYetOurs(Gap):
    """The upstream could; we have not built it."""

    __slots__ = ()


class NotYetTheirs(Gap):
    """The upstream lacks it today."""

    __slots__ = ()


class Never(Gap):
    """It cannot be, by what the source is."""

    __slots__ = ()


_WORDS: dict[type[Gap], str] = {NotYetOurs: "not yet ours", NotYetTheirs: "not yet theirs", Never: "never"}
