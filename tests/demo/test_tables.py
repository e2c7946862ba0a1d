"""The file format of the demo networks."""

import inspect
import textwrap

import pytest

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.demo import tables
from fingerpost.transit.engine.demo.tables import Line, Stop, read_network
from tests.demo.drawing import HEAD, LINE_7, LINE_M, METRO, TOWN, TRAM


def clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds % 3600 // 60:02}"


def test_a_line_is_read_as_its_entry_states_it():
    """Stops and minutes alternate, both directions have the same timetable, and headsigns are the last stops."""
    line = read_network(TOWN, "town.toml").lines[0]

    times_s = (19800, 20400, 21000, 21600, 22800, 23400)
    assert line == Line(
        group="tram",
        name="7",
        title="Tori - Satama",
        stops=("Tori", "Itäkeskus (M)", "Satama"),
        minutes=(2, 3),
        departures_s=times_s,
        back_s=times_s,
        towards=("Satama", "Tori"),
        color=-1,
    )


@pytest.mark.parametrize(
    ("group", "line", "color"), [("", "", -1), ("00985F", "", 0x00985F), ("00985F", "FF6319", 0xFF6319)]
)
def test_a_line_has_its_own_colour_else_its_groups(group, line, color):
    """A tram line of a green group is green, unless it says orange."""
    of_group, of_line = (f'color = "{each}"\n' if each else "" for each in (group, line))
    tram = TRAM.replace("[group.tram]\n", f"[group.tram]\n{of_group}", 1)

    assert read_network(HEAD + tram + LINE_7 + of_line, "town.toml").lines[0].color == color


def test_a_colour_that_is_none_is_refused():
    """Names of colours are not read."""
    with pytest.raises(SettingsInvalid, match="'color' should be six hexadecimal digits"):
        read_network(HEAD + TRAM + LINE_7 + 'color = "green"\n', "town.toml")


def test_a_stop_is_step_free_by_its_group_unless_a_list_says_otherwise():
    """The metro is step-free but for its station Asema; of the tram nothing is known."""
    stops = read_network(TOWN, "town.toml").stops

    assert stops == (
        Stop("tram", "Tori", 60.170, 24.940, "Torget", 0),
        Stop("tram", "Itäkeskus (M)", 60.170, 24.950, "", 0),
        Stop("tram", "Satama", 60.170, 24.960, "", 0),
        Stop("metro", "Tori", 60.171, 24.940, "Torget", 1),
        Stop("metro", "Asema", 60.200, 24.940, "", 2),
    )


def test_a_one_way_line_has_no_way_back():
    """Line 7 of the town runs to Satama and never returns."""
    line = read_network(HEAD + TRAM + LINE_7 + "one_way = true", "town.toml").lines[0]

    assert (line.back_s, line.towards) == ((), ("Satama", "Satama"))


def test_the_example_of_the_documentation_is_read_as_it_is_explained():
    """The docstring's own file is valid, and its line leaves when its text says."""
    example = textwrap.dedent(inspect.getdoc(tables).split("::\n", 1)[1].split("\n``departures``", 1)[0])

    line = read_network(example, "example").lines[0]

    early = [f"05:{minute}" for minute in (30, 40, 50)] + [f"06:{minute:02}" for minute in range(0, 60, 10)]
    peak = [f"{hour:02}:{minute:02}" for hour in (7, 8) for minute in range(0, 60, 5)]
    assert [clock(seconds) for seconds in line.departures_s] == [*early, *peak, "09:00", "16:00", "24:30"]


TIMES_AND_STEPS = "'departures' should be times such as 05:30 and steps such as /10 between them"

MALFORMED = {
    "not TOML": (HEAD + '"open', "town.toml: not TOML:"),
    "no network": (TRAM, "town.toml, top: 'network' is missing."),
    "no name": (TOWN.replace('name = "DEMO-TOWN"', ""), "town.toml, network: 'name' is missing."),
    "no such zone": (
        TOWN.replace("Europe/Helsinki", "Europe/Nowhere"),
        "town.toml, network: there is no time zone 'Europe/Nowhere'.",
    ),
    "names of no language": (
        TOWN.replace('second_language = "sv"', ""),
        "town.toml, network: 'second_language' is missing, though stops have second names.",
    ),
    "unknown key": (
        TOWN.replace("route_type = 0", "route_type = 0\ncolour = 3"),
        "town.toml, group 'tram': 'colour' is not known here; known are",
    ),
    "wrong type": (
        TOWN.replace("route_type = 0", "route_type = true"),
        "town.toml, group 'tram': 'route_type' should be a whole number.",
    ),
    "wheelchair out of range": (
        TOWN.replace("stop_wheelchair = 1", "stop_wheelchair = 3"),
        "town.toml, group 'metro': 'stop_wheelchair' should be 0, 1 or 2.",
    ),
    "stairs at no stop": (
        TOWN.replace('["Asema"]', '["Asemo"]'),
        "town.toml, group 'metro': there is no stop 'Asemo', though 'step_free' or 'stairs_only' names it.",
    ),
    "stairs and step-free": (
        TOWN.replace("stop_wheelchair = 1", 'step_free = ["Asema"]'),
        "town.toml, group 'metro': 'Asema' is both in 'step_free' and in 'stairs_only'.",
    ),
    "lists of numbers": (
        TOWN.replace('["Asema"]', "[7]"),
        "town.toml, group 'metro': 'stairs_only' should list texts.",
    ),
    "latitude 91": (
        TOWN.replace("[60.200, 24.940]", "[91.0, 24.940]"),
        "town.toml, group 'metro': stop 'Asema' should be [latitude, longitude] in decimal degrees.",
    ),
    "coordinate missing": (
        TOWN.replace("[60.200, 24.940]", "[60.200]"),
        "town.toml, group 'metro': stop 'Asema' should be [latitude, longitude] in decimal degrees.",
    ),
    "third name": (
        TOWN.replace("[60.200, 24.940]", '[60.200, 24.940, "a", "b"]'),
        "town.toml, group 'metro': stop 'Asema' may have one second name after its coordinates, and nothing else.",
    ),
    "line of no group": (
        TOWN.replace('group = "metro"', 'group = "matro"'),
        "town.toml, line 2 'M': there is no group 'matro'.",
    ),
    "line that is no table": ("line = [7]\n" + HEAD + TRAM, "town.toml, line 1 '': should be a table."),
    "empty title": (
        TOWN.replace('title = "Tori - Asema"', 'title = ""'),
        "town.toml, line 2 'M': 'title' is empty; leave it out if there is none.",
    ),
    "stop of another group": (
        TOWN.replace("Tori 4 Asema", "Tori 4 Satama"),
        "town.toml, line 2 'M': group 'metro' has no stop 'Satama'.",
    ),
    "minutes missing": (
        TOWN.replace("Tori 4 Asema", "Tori Asema"),
        "town.toml, line 2 'M': 'stops' should name two stops or more, with minutes between them.",
    ),
    "no minutes at all": (
        TOWN.replace("Tori 4 Asema", "Tori 0 Asema"),
        "town.toml, line 2 'M': 'Tori' and 'Asema' should be two stops, a minute or more apart.",
    ),
    "the same stop twice": (
        TOWN.replace("Tori 4 Asema", "Tori 4 Tori"),
        "town.toml, line 2 'M': 'Tori' and 'Tori' should be two stops, a minute or more apart.",
    ),
    "back of a one-way line": (
        TOWN + "one_way = true",
        "town.toml, line 2 'M': 'back' is given, though the line is 'one_way'.",
    ),
    "one headsign for two ways": (
        TOWN.replace('["Pohjoinen", "Keskusta"]', '["Pohjoinen"]'),
        "town.toml, line 2 'M': 'towards' should have one headsign for each direction.",
    ),
    "step at the end": (
        TOWN.replace("24:30", "24:30 /10"),
        "town.toml, line 2 'M': 'departures' should begin and end with a time.",
    ),
    "no times": (
        TOWN.replace('back = "06:00"', 'back = " "'),
        "town.toml, line 2 'M': 'back' should begin and end with a time.",
    ),
    "step of nothing": (
        TOWN.replace("23:50 /20", "23:50 /0"),
        f"town.toml, line 2 'M': {TIMES_AND_STEPS}, not '/0'.",
    ),
    "two steps": (
        TOWN.replace("23:50 /20", "23:50 /20 /10"),
        f"town.toml, line 2 'M': {TIMES_AND_STEPS}, not '/10'.",
    ),
    "minute 60": (
        TOWN.replace("24:30", "24:60"),
        f"town.toml, line 2 'M': {TIMES_AND_STEPS}, not '24:60'.",
    ),
    "midnight as 00": (
        TOWN.replace("24:30", "00:30"),
        "town.toml, line 2 'M': 'departures' goes back in time at '00:30'.",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_file_is_refused_by_file_and_entry(case):
    """Whoever mistypes an entry is told in which file and entry, and what is wrong with it."""
    text, beginning = MALFORMED[case]

    with pytest.raises(SettingsInvalid) as refused:
        read_network(text, "town.toml")

    assert refused.value.message[: len(beginning)] == beginning


def test_the_drawings_parts_are_a_whole_network():
    """The town without either line is still a network, so each refusal above has one cause."""
    assert len(read_network(HEAD + TRAM + METRO + LINE_M, "town.toml").lines) == 1
