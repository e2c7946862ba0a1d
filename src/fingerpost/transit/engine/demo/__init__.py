"""The demo networks that ship with the package, prepared from the GTFS tables in ``feeds/``, and their simulator.

Importing the tables would triple the time to the first answer. A test compares the prepared networks with the tables.
"""

from pathlib import Path

from fingerpost.transit.engine.timetable.array_file import open_timetable
from fingerpost.transit.engine.timetable.timetable import Timetable

NAMES = ("DEMO-HELSINKI", "DEMO-LONDON")
FOLDER = Path(__file__).parent
PREPARED = FOLDER / "prepared"


def open_demo(name: str) -> Timetable:
    """Open the timetable of a demo network, which is valid on any day."""
    return open_timetable(PREPARED / name)
