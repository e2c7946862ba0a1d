"""Names of time zones, of which sources send any."""

from zoneinfo import ZoneInfo


def is_zone(name: str | None) -> bool:
    """Whether a name is a time zone's that is known here."""
    try:
        return bool(name) and bool(ZoneInfo(name or "").key)
    except (OSError, ValueError, KeyError):
        # A folder's or a file's name, one that leads out of the folder of zones, one that is not there.
        return False
