"""A person at a terminal: times as people type them, timetables, and common mistakes."""

import json
import re
import shlex
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
import typer

from fingerpost.apps.cli.app import load_root
from fingerpost.apps.cli.output import OPTIONS, REMEDIES, print_error
from fingerpost.apps.cli.typed_times import parse_time
from fingerpost.apps.wiring import TOOLS
from fingerpost.errors import PlaceAmbiguous, Remedy, RemedyKind, SourceKeyRefused, SourceLimited
from fingerpost.net.outcomes import find_failure
from fingerpost.net.response import Response
from fingerpost.transit.rules.realtime_status import format_age
from tests.apps.conftest import write_town
from tests.project.sources import ROOT

# A Tuesday, eight in the morning.
HELSINKI = ZoneInfo("Europe/Helsinki")
NOW = datetime(2026, 3, 10, 8, 0, tzinfo=HELSINKI)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("09:00", "2026-03-10 09:00"),
        ("08:00", "2026-03-10 08:00"),
        ("7:59", "2026-03-10 07:59"),
        ("7:57", "2026-03-11 07:57"),
        ("9 pm", "2026-03-10 21:00"),
        ("12am", "2026-03-11 00:00"),
        ("12pm", "2026-03-10 12:00"),
        ("9:30PM", "2026-03-10 21:30"),
        ("Tomorrow 9am", "2026-03-11 09:00"),
        ("today 18:00", "2026-03-10 18:00"),
        ("tonight 23:15", "2026-03-10 23:15"),
        ("tuesday 09:00", "2026-03-10 09:00"),
        ("tuesday 07:00", "2026-03-17 07:00"),
        ("mon 09:00", "2026-03-16 09:00"),
        ("2026-03-10T08:00", "2026-03-10 08:00"),
        ("now", "2026-03-10 08:00"),
    ],
)
def test_a_time_as_a_person_types_it(text, meant):
    assert f"{parse_time(text, lambda: HELSINKI):%Y-%m-%d %H:%M}" == meant


@pytest.mark.parametrize("text", ["", " ", "9", "someday 09:00", "13pm", "25:00", "09:60", "2026-11-24", "tomorrow"])
def test_an_invalid_time_is_quoted(text):
    with pytest.raises(typer.BadParameter) as refused:
        parse_time(text, None)
    assert refused.value.message.startswith(f"'{text}' is not a time: write now, 09:00")


@pytest.mark.parametrize(
    ("age_s", "said"), [(120, "120 s"), (121, "2 min"), (7_199, "119 min"), (172_799, "47 h"), (172_800, "2 days")]
)
def test_an_age_is_readable(age_s, said):
    assert format_age(age_s) == said


def test_a_point_copied_from_a_map_is_parsed(invoke):
    assert invoke("stops", "60.17,24.93").stdout == invoke("stops", "60.17", "24.93").stdout


def test_every_field_of_a_tool_has_an_option(invoke):
    by_mode = invoke("stops", "60.1699,24.9384", "--include-modes", "TRAM", "--include-modes", "FERRY", "--json")
    near = invoke("find", "asema", "--focus-point", "60.2,24.9", "--max-distance-meters", "2000", "--json")
    trip = invoke("plan", "Kamppi", "Espoo", "--low-walking-distance", "--no-include-disruption-alt", "--json")
    named = invoke("stops", "60.1699,24.9384", "--text-filter", "1,2", "--json")

    assert {mode for stop in json.loads(by_mode.stdout)["stops"] for mode in stop["modes"]} == {"TRAM"}
    assert "candidates" in json.loads(near.stdout)
    assert json.loads(trip.stdout)["constraints"]["accessibility"]["lowWalkingDistance"] is True
    assert json.loads(named.stdout)["stops"] == []


def test_help_leaves_out_what_only_agents_need(invoke):
    said = {command: invoke(command, "--help").stdout for command in ("plan", "find", "stops")}

    assert "disruption-alt" not in said["plan"]
    assert "Needs --focus-point" in said["find"]
    assert [word for text in said.values() for word in AGENT_WORDS.findall(text)] == []


@pytest.mark.parametrize("text", ["tomorrow 09:00", "wednesday 09:00"])
def test_just_after_midnight_a_day_is_still_counted_from_now(text, monkeypatch):
    """The two minutes that count as now belong to the day before."""
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T00:01:00+02:00")

    assert parse_time(text, lambda: HELSINKI) == datetime(2026, 3, 11, 9, 0, tzinfo=HELSINKI)


PLAN = str(ROOT / "examples" / "there_and_back.json")
PAGE = str(ROOT / "src" / "fingerpost" / "filings" / "metrics.txt")
TEXT = ["filings", "load", "a.txt", "--accession"]
# By exit status: 2 for wrong usage, 1 for an error of a tool.
MISTAKES = {
    2: {
        "a day without a time": (["plan", "Kamppi", "Espoo", "--at", "tomorow"], "tomorrow 09:00"),
        "leaving and arriving": (["plan", "Kamppi", "Espoo", "--at", "9am", "--arrive", "10am"], "--at or --arrive"),
        "a point as it is copied from a map": (["stops", "60.17,x"], "fingerpost stops 60.17 24.93"),
        "a stop's name for a point": (["stops", "Kamppi"], "fingerpost find NAME"),
        "a name to search near": (["find", "asema", "--focus-point", "Kamppi"], "LAT,LON"),
        "nothing to delete": (["vars", "delete"], "--all"),
        "a network that is none": (["network", "remove", "NOPE"], "There is no network NOPE"),
        "a period without a figure": (["filings", "AAPL", "2022"], "fingerpost filings AAPL revenue 2022"),
        "a period of forms": (["filings", "AAPL", "10-K", "2022"], "a period needs a figure"),
        "a group of tools that is none": (["serve", "--tools", "core"], "no tool group called core. Groups: trips,"),
        "a limit in words": (["plan", "Kamppi", "Espoo", "--limit", "many"], "Invalid value for '--limit'"),
        "half of a trip": (["plan", "Kamppi"], "Missing argument 'TO'"),
        "a name that only demos have": (["network", "add", "DEMO-X", "."], "DEMO-"),
        "a text without its day": (["filings", "load", PAGE, "--accession", "0000320193-22-000108"], "--filed"),
        "an accession number that is none": ([*TEXT, "x", "--filed", "2022-10-28"], "'x' is not an accession number"),
        "a filing day that is none": ([*TEXT, "0000320193-22-000108", "--filed", "friday"], "'friday' does not match"),
        "several figures of no year": (["filings", "AAPL", "revenue,", "eps"], "revenue, eps 2022"),
        "a walk too long": (["plan", "Kamppi", "Espoo", "--max-walk", "9999"], "--max-walk must be at most 3000"),
        "latitude and longitude swapped": (["stops", "160", "24"], "LAT must be at most 90"),
        "an empty place to walk from": (["departures", "Kamppi", "--from", ""], "--from must not be empty"),
        "a name to walk from": (["departures", "Kamppi", "--from", "kamp"], "`fingerpost vars set NAME PLACE`"),
        "an empty place": (["plan", "", "Espoo"], "FROM must not be empty"),
    },
    1: {
        "a place that is not there": (["plan", "Kamppi", "Xyzzyq"], "`fingerpost find NAME`"),
        "an ambiguous place": (["plan", "kamp", "Espoo"], "Choose a candidate and write its id instead."),
        "too little walking": (["plan", "60.17,24.94", "Espoo", "--max-walk", "1"], "No itineraries for given"),
        "half of a position": (["plan", "60.17", "24.94"], "lat,lon"),
        "a stop that is not there": (["departures", "Xyzzyq"], "`fingerpost find NAME`"),
        "a name that is not there": (["find", "Xyzzyq"], "`fingerpost stops LAT LON`"),
        "a figure that nobody files": (["filings", "AAPL", "xyzzy", "2022"], "fingerpost call sec_financial_data"),
        "a figure misspelt": (["filings", "AAPL", "revnue", "2022"], "Did you mean Revenue"),
    },
}
# Tools, fields in camelCase and their paths, and other words that are not for people.
_TOOL_NAMES = "|".join(tool.name for tool in TOOLS)
AGENT_WORDS = re.compile(
    rf"\b(?:[a-z]+[A-Z]\w*|(?:origin|destination|stop|when|coordinate|constraints)\.[a-z]+|{_TOOL_NAMES})\b"
    r"|token|_NotJson|Traceback|Stop id|instant"
)


@pytest.mark.parametrize(
    ("status", "words", "instead"),
    [pytest.param(status, *mistake, id=name) for status, named in MISTAKES.items() for name, mistake in named.items()],
)
def test_a_mistake_is_answered_with_the_correct_input(invoke, status, words, instead):
    ended = invoke(*words)
    said = " ".join(ended.stderr.replace("│", " ").split())

    assert (ended.returncode, ended.stdout) == (status, "")
    assert instead in said
    assert AGENT_WORDS.findall(said.replace("fingerpost call sec_financial_data", "")) == []


def test_every_remedy_has_words_for_people_and_every_field_an_option():
    parameters = [each for _, command in _list_commands(load_root(), []) for each in command.params]
    known = {name for each in parameters for name in (*each.opts, each.metavar, each.name.upper())}
    options = {name.removeprefix("the latitude of ").removeprefix("the longitude of ") for name in OPTIONS.values()}

    assert set(REMEDIES) == set(RemedyKind)
    assert options - known == {"the name", "the time"}


def test_a_full_disk_is_reported_in_one_sentence(invoke, monkeypatch):
    import errno

    from fingerpost.apps.settings import Settings

    def full(self):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Settings, "prepare_home", full)
    ended = invoke("vars", "list")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "The disk is full" in ended.stderr


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("network rem", ["remove"]),
        ("vars delete h", ["home"]),
        ("plan h", ["home"]),
        ("plan old", ["old\\ Town"]),
        ("network show TO", ["TOWN"]),
        ("departures Alp", ["Alpha"]),
        ("plan home oxford", ["oxford\\ Circus"]),
    ],
)
def test_the_shell_completes_commands_and_own_names(invoke, monkeypatch, tmp_path, line, offered):
    invoke("network", "add", "TOWN", str(write_town(tmp_path)))
    invoke("vars", "set", "home", "41.0,-8.0")
    invoke("vars", "set", "Old Town", "41.0,-8.0")
    monkeypatch.setenv("FINGERPOST_DEMO", "on")
    monkeypatch.setenv("_FINGERPOST_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"fingerpost {line}")
    monkeypatch.setenv("COMP_CWORD", str(len(line.split())))

    assert invoke().stdout.split("\n")[: len(offered)] == offered


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SourceLimited("api.example is busy", retry_after_s=44.2), "Try again in 45 s"),
        (SourceLimited("api.example is busy", retry_after_s=120), "Try again in 120 s"),
        (SourceLimited("api.example is busy", retry_after_s=121), "Try again in 3 min"),
        (SourceKeyRefused("api.example is busy", hint="Set FINGERPOST_CONTACT"), "Set FINGERPOST_CONTACT"),
    ],
)
def test_an_error_says_how_long_to_wait_or_what_to_do(capsys, error, told):
    print_error(error)

    assert capsys.readouterr().err == f"api.example is busy.\n{told}.\n"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["HSL_KEY"], "Set HSL_KEY to a key that this source accepts."),
        (["A_KEY", "B_KEY"], "Set A_KEY or B_KEY to a key that this source accepts."),
        ([], "Store the key in an environment variable"),
    ],
)
def test_a_refused_key_is_named_by_its_variable(capsys, settings, told):
    response = Response(status=401, headers={}, body=b"", redacted_url="https://api.example/", retrieved_at=NOW)
    print_error(find_failure(response, NOW, settings))

    assert told in capsys.readouterr().err


def test_whose_data_candidates_are_is_named_once(capsys):
    candidates = [{"token": "T:1", "name": "Alpha"}, {"token": "T:2", "name": "Alpha"}]
    remedy = Remedy(RemedyKind.USE_CANDIDATE, {"field": "the label"})
    print_error(PlaceAmbiguous("unclear", {"candidates": candidates, "attribution": ["© Town"]}, hint=remedy))

    assert capsys.readouterr().err.splitlines()[1:3] == [
        "Choose a candidate and write its id instead. Data: © Town.",
        "  T:1  Alpha",
    ]


def _list_commands(group, path):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _list_commands(command, [*path, name])
        else:
            yield [*path, name], command


@pytest.mark.parametrize(("path", "command"), list(_list_commands(load_root(), ["fingerpost"])))
def test_every_help_has_an_example_that_the_command_accepts(path, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").touch()
    words = shlex.split(command.epilog.removeprefix("Example: "))
    if path[-1] == "show" and path[1] == "filings":
        path = path[:-1]

    assert words[: len(path)] == path
    with command.make_context(path[-1], words[len(path) :]) as context:
        assert context.command is command
