"""How fast a host, or one path of it, may be asked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A rate limit of a host, or of one path of it.

    ``name`` is the limit's: hosts and paths with one name share one limit. ``per_second`` may be a fraction.
    At most ``burst`` requests leave at once, and over any span of time at most ``burst`` plus ``per_second`` times its
    seconds.
    """

    name: str
    per_second: float
    burst: int
