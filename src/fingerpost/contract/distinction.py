"""Say what tells a candidate place from others of its name (rule D2)."""

from collections.abc import Mapping
from typing import Any

# A text names so many of a candidate's lines.
SPOKEN_LINES = 8


def say_distinction(candidate: Mapping[str, Any]) -> str:
    """Return what tells a candidate apart as words, empty where nothing is known."""
    lines = candidate.get("lines", ())
    shown, more = lines[:SPOKEN_LINES], len(lines) - SPOKEN_LINES
    parts = []
    if shown:
        parts.append(f"lines {' '.join(shown)}" + (f" and {more} more" if more > 0 else ""))
    if "modes" in candidate:
        parts.append("by " + ", ".join(candidate["modes"]))
    if "direction" in candidate:
        parts.append(f"towards {candidate['direction']}")
    if "district" in candidate:
        parts.append(candidate["district"])
    if "distance" in candidate:
        parts.append(f"{candidate['distance']} m away")
    if "guess" in candidate:
        parts.append(candidate["guess"])
    return ", ".join(parts)
