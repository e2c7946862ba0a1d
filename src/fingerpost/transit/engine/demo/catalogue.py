"""Which demo networks ship with the package, and how one is built."""

from importlib.resources import files

from fingerpost.errors import DataNotFound
from fingerpost.transit.engine.demo.expansion import expand
from fingerpost.transit.engine.demo.tables import DemoNetwork, read_network
from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.timetable import Timetable

_FILES = {"DEMO-HELSINKI": "helsinki.toml", "DEMO-LONDON": "london.toml"}


def list_demo_names() -> tuple[str, ...]:
    """Return the names of the demo networks, sorted."""
    return tuple(sorted(_FILES))


def get_demo_tables(name: str) -> DemoNetwork:
    """Return a demo network as its file states it.

    Raises:
        DataNotFound: there is no demo network of that name.
        SettingsInvalid: the file was edited and is malformed; the message names the file and the entry.
    """
    if name not in _FILES:
        known = ", ".join(list_demo_names())
        raise DataNotFound(f"There is no demo network '{name}'.", {"name": name}, hint=f"Choose one of: {known}.")
    resource = files("fingerpost.transit.engine.demo") / "networks" / _FILES[name]
    return read_network(resource.read_text(encoding="utf-8"), _FILES[name])


def build_demo(name: str) -> Timetable:
    """Build a demo network's timetable, which holds on any day; errors as in ``get_demo_tables``."""
    return assemble(expand(get_demo_tables(name)))
