"""Reads the tables of a demo network from a TOML file.

One file is one network::

    [network]
    name = "DEMO-TOWN"              # the feed's name
    zone = "Europe/Helsinki"
    language = "fi"                 # of the stops' names
    second_language = "sv"          # of their second names; left out where there are none

    [group.tram]                    # stops that only the lines of this group call at
    route_type = 0                  # GTFS route_type
    suffix = "-TRAM"                # ends the ids of its stops, so that two groups may share a name; optional
    color = "00985F"                # of its lines, six hexadecimal digits; optional
    vehicle_wheelchair = 0          # GTFS values: 0 unknown, 1 yes, 2 no; unknown where left out
    stop_wheelchair = 0             # what holds for a stop in neither of the next two lists
    step_free = ["Tori"]
    stairs_only = []

    [group.tram.stops]              # name = [latitude, longitude] or [latitude, longitude, second name]
    "Tori" = [60.17, 24.95, "Torget"]
    "Satama" = [60.16, 24.96]

    [[line]]
    group = "tram"
    name = "7"                      # lines of one group and name are one route
    title = "Tori - Satama"
    stops = "Tori 3 Satama"         # minutes between neighbours
    departures = "05:30 /10 07:00 /5 09:00 16:00 24:30"
    back = "06:00 /20 23:00"        # the other way; left out where it is as above
    color = "00985F"                # in place of the group's; optional
    one_way = false                 # true: there is no other way
    towards = ["Satama", "Tori"]    # headsigns, out and back; left out where each is the last stop

``departures`` are those from the first stop. A time is a departure and may pass 24:00; ``/10`` between two
times means every ten minutes from the one until the other. So a period ends where the next begins, and the
last time is the last departure. Two times without ``/`` have nothing between them.
"""

import re
import tomllib
import zoneinfo
from typing import Any, NamedTuple

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.demo.departures import read_departures
from fingerpost.transit.engine.demo.entry import TableEntry
from fingerpost.transit.model.line_colors import NOT_STATED, parse_color

_NETWORK_KEYS = {"name": str, "zone": str, "language": str, "second_language": str}
_GROUP_KEYS = {
    "route_type": int,
    "suffix": str,
    "color": str,
    "vehicle_wheelchair": int,
    "stop_wheelchair": int,
    "step_free": list,
    "stairs_only": list,
    "stops": dict,
}
_LINE_KEYS = {
    "group": str,
    "name": str,
    "title": str,
    "stops": str,
    "departures": str,
    "back": str,
    "color": str,
    "one_way": bool,
    "towards": list,
}


class Stop(NamedTuple):
    """A stop of a group. ``second_name`` may be empty; ``wheelchair`` is GTFS's value."""

    group: str
    name: str
    lat: float
    lon: float
    second_name: str
    wheelchair: int


class Group(NamedTuple):
    """Attributes that the lines of a group share. ``route_type`` and ``vehicle_wheelchair`` are GTFS's values.

    ``color`` is 0xRRGGBB, -1 where not stated.
    """

    route_type: int
    suffix: str
    vehicle_wheelchair: int
    color: int


class Line(NamedTuple):
    """A line, or one path of a line that has several.

    Attributes:
        stops: names, in the order of the way out.
        minutes: running times between neighbours, one fewer than the stops.
        departures_s: from the first stop, in seconds of the service day, ascending.
        back_s: from the last stop; empty where the line runs one way only.
        towards: headsigns out and back.
        color: 0xRRGGBB, -1 where neither it nor its group states one.
    """

    group: str
    name: str
    title: str
    stops: tuple[str, ...]
    minutes: tuple[int, ...]
    departures_s: tuple[int, ...]
    back_s: tuple[int, ...]
    towards: tuple[str, str]
    color: int


class DemoNetwork(NamedTuple):
    """A demo network as its file states it. ``second_language`` may be empty."""

    name: str
    zone: str
    language: str
    second_language: str
    groups: dict[str, Group]
    stops: tuple[Stop, ...]
    lines: tuple[Line, ...]


def read_network(text: str, file_name: str) -> DemoNetwork:
    """Read a network from a file's text; ``file_name`` is for messages.

    Raises:
        SettingsInvalid: the text is not TOML, or an entry is wrong; the message names the file and the entry.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsInvalid(f"{file_name}: not TOML: {error}.", hint="Correct this line of the file.") from error
    whole = TableEntry(file_name, "top", document, {"network": dict, "group": dict, "line": list})
    head = TableEntry(file_name, "network", whole.get("network"), _NETWORK_KEYS)
    groups: dict[str, Group] = {}
    stops: list[Stop] = []
    for key, table in whole.get("group").items():
        entry = TableEntry(file_name, f"group '{key}'", table, _GROUP_KEYS)
        groups[key] = Group(
            entry.get("route_type"),
            entry.table.get("suffix", ""),
            entry.get_wheelchair("vehicle_wheelchair"),
            _color(entry, NOT_STATED),
        )
        stops += _stops(entry, key)
    try:
        zoneinfo.ZoneInfo(head.get("zone"))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        head.refuse(f"there is no time zone '{head.get('zone')}'")
    if "second_language" not in head.table and any(stop.second_name for stop in stops):
        head.refuse("'second_language' is missing, though stops have second names")
    known = {(stop.group, stop.name) for stop in stops}
    lines = [_line(file_name, number, table, groups, known) for number, table in enumerate(whole.get("line"), 1)]
    return DemoNetwork(
        head.get("name"),
        head.get("zone"),
        head.get("language"),
        head.table.get("second_language", ""),
        groups,
        tuple(stops),
        tuple(lines),
    )


def _stops(entry: TableEntry, group: str) -> list[Stop]:
    places = entry.get("stops")
    usual = entry.get_wheelchair("stop_wheelchair")
    wheelchair = dict.fromkeys(entry.get_texts("step_free"), 1)
    for name in entry.get_texts("stairs_only"):
        if name in wheelchair:
            entry.refuse(f"'{name}' is both in 'step_free' and in 'stairs_only'")
        wheelchair[name] = 2
    for name in wheelchair:
        if name not in places:
            entry.refuse(f"there is no stop '{name}', though 'step_free' or 'stairs_only' names it")
    stops = []
    for name, place in places.items():
        match place:
            case [float(lat), float(lon), *more] if -90 <= lat <= 90 and -180 <= lon <= 180:
                pass
            case _:
                entry.refuse(f"stop '{name}' should be [latitude, longitude] in decimal degrees")
        match more:
            case []:
                second_name = ""
            case [str(second_name)] if second_name:
                pass
            case _:
                entry.refuse(f"stop '{name}' may have one second name after its coordinates, and nothing else")
        stops.append(Stop(group, name, lat, lon, second_name, wheelchair.get(name, usual)))
    return stops


def _line(file_name: str, number: int, table: Any, groups: dict[str, Group], known: set[tuple[str, str]]) -> Line:
    name = table.get("name", "") if isinstance(table, dict) else ""
    entry = TableEntry(file_name, f"line {number} '{name}'", table, _LINE_KEYS)
    group = entry.get("group")
    if group not in groups:
        entry.refuse(f"there is no group '{group}'")
    parts = re.split(r" (\d+) ", " ".join(entry.get("stops").split()))
    stops, minutes = tuple(parts[::2]), tuple(int(part) for part in parts[1::2])
    if len(stops) < 2:
        entry.refuse("'stops' should name two stops or more, with minutes between them")
    for stop in stops:
        if (group, stop) not in known:
            entry.refuse(f"group '{group}' has no stop '{stop}'")
    for before, after, taken in zip(stops[:-1], stops[1:], minutes, strict=True):
        if taken < 1 or before == after:
            entry.refuse(f"'{before}' and '{after}' should be two stops, a minute or more apart")
    one_way = entry.table.get("one_way", False)
    if one_way and "back" in entry.table:
        entry.refuse("'back' is given, though the line is 'one_way'")
    towards = entry.get_texts("towards") or ([stops[-1]] if one_way else [stops[-1], stops[0]])
    if len(towards) != (1 if one_way else 2):
        entry.refuse("'towards' should have one headsign for each direction")
    departures_s = read_departures(entry, "departures", entry.get("departures"))
    back_s = () if one_way else read_departures(entry, "back", entry.table.get("back", entry.get("departures")))
    title = entry.get("title")
    color = _color(entry, groups[group].color)
    ends = (towards[0], towards[-1])
    return Line(group, entry.get("name"), title, stops, minutes, departures_s, back_s, ends, color)


def _color(entry: TableEntry, usual: int) -> int:
    """Return the entry's colour, ``usual`` where it states none."""
    text = entry.table.get("color")
    color = parse_color(text)
    if text is not None and color == NOT_STATED:
        entry.refuse("'color' should be six hexadecimal digits")
    return usual if text is None else color
