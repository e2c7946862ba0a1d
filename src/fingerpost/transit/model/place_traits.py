"""What tells a place from another of its name (rule D2)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceTraits:
    """What tells a place from another of its name (rule D2).

    ``lines`` stop there, sorted; ``direction`` names the commonest destinations of its departures; ``district`` is
    its locality, or what it is near. Empty or None where the source does not know.
    """

    lines: tuple[str, ...] = ()
    direction: str | None = None
    district: str | None = None
