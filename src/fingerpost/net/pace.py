"""How fast a host may be asked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A host's rate limit.

    ``name`` is the limit's: hosts with one name share one limit. At most ``burst`` requests leave at once, and over
    any span of time at most ``burst`` plus ``per_second`` times its seconds.
    """

    name: str
    per_second: int
    burst: int
