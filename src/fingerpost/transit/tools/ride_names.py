"""Which legs of an answer are rides, and what rides are called; whoever prints at a terminal reads this too."""

_ON_FOOT_OR_WHEELS = frozenset({"WALK", "BIKE", "SCOOTER"})


def is_ride(mode: str) -> bool:
    """Return whether a leg of a trip is a ride, by its word for the mode; what has no word of its own may be one."""
    return mode not in _ON_FOOT_OR_WHEELS


def name_ride(mode: str, line: str | None) -> str:
    """Return what a ride is called: its mode, and its line where the source names one."""
    return f"{mode} {line}" if line else mode
