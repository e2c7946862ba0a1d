"""Network records at a terminal: added, changed, edited by hand, shown, and added by a third-party source."""

import json
import os
import tomllib
from datetime import UTC, datetime

import pytest
import typer
from typer.testing import CliRunner

from fingerpost.apps import source_kinds
from fingerpost.apps.cli import network_add, network_commands
from fingerpost.apps.cli.application import with_options
from fingerpost.apps.cli.output import describe_error
from fingerpost.apps.source_kinds import SourceKind
from fingerpost.errors import ParameterError
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.learned_profile import LearnedProfile, LearnedProfiles, new_remote_profile
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.remote.kit.server import AddOption
from tests.apps.conftest import write_town
from tests.feeds import feed_from_drawing, write_feed
from tests.homes import write_record


@pytest.fixture
def feed(tmp_path):
    return write_town(tmp_path)


@pytest.fixture
def town(feed, invoke):
    added = invoke("network", "add", "town", str(feed))
    assert added.returncode == 0, added.stderr


def records_of(home):
    return dict(NetworkRecordStore(home).read().records)


def test_every_option_of_add_is_written_down(feed, home, invoke):
    invoke("network", "add", "spare", str(feed))
    added = invoke(
        *("network", "add", "town", f"BUS={feed}", "--fallback", "spare", "--priority", "3"),
        *("--zone", "Europe/Lisbon", "--bounds", "-8.1,-8.2,41.5,-7", "--language", "pt", "--language", "en"),
        *("--realtime", "https://example.org/a.pb?key=${TOWN_KEY}"),
    )

    # The source has no message, because the key is not set.
    assert added.returncode == 1, added.stderr
    assert records_of(home)["TOWN"] == NetworkRecord(
        name="TOWN",
        feeds=(f"BUS={feed}",),
        realtime=("https://example.org/a.pb?key=${TOWN_KEY}",),
        fallback="SPARE",
        priority=3,
        zone="Europe/Lisbon",
        bounds=(-8.1, -8.2, 41.5, -7.0),
        languages=("pt", "en"),
    )


@pytest.mark.parametrize(
    ("option", "observed"),
    [
        (("--bounds", ""), "Bounds must be a list of four numbers"),
        (("--streets", ""), "There is no extract"),
        (("--fallback", "OTHER"), "Its fallback 'OTHER' is not an added network"),
        (("--key", "s3cr3t!"), "Key must be the name of an environment variable"),
    ],
)
def test_a_wrong_option_is_reported_before_anything_is_imported(feed, home, option, observed, invoke):
    refused = invoke("network", "add", "town", str(feed), *option)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(observed), refused.stderr
    assert (records_of(home), TimetableStore(home).list_names()) == ({}, [])


def test_a_network_without_a_source_is_wrong_usage(invoke):
    refused = invoke("network", "add", "town")

    assert (refused.returncode, refused.stderr) == (
        2,
        (
            "A network has exactly one source, but none was given.\n"
            "Give its feeds or --otp or --digitransit or --tfl or --motis or --transitous.\n"
        ),
    )


def test_adding_again_preserves_unnamed_settings_and_reports_it(town, feed, home, invoke):
    path = home / "networks" / "TOWN.toml"
    path.write_text(f'# ours\n{path.read_text()}priority = 5  # best\nzone = "Europe/Paris"\n')
    again = invoke("network", "add", "town", f"BUS={feed}", "--zone", "Europe/Lisbon")

    assert again.stdout.splitlines()[-1].startswith("Unchanged settings: priority. ")
    assert records_of(home)["TOWN"] == NetworkRecord(
        name="TOWN", feeds=(f"BUS={feed}",), priority=5, zone="Europe/Lisbon"
    )
    assert path.read_text().startswith("# ours\n")
    assert "priority = 5  # best" in path.read_text()


def test_adding_over_a_wrong_record_reports_that_it_was_replaced(town, feed, home, invoke):
    path = home / "networks" / "TOWN.toml"
    path.write_text(path.read_text() + 'zone = "Nowhere"\n')
    again = invoke("network", "add", "town", str(feed))

    assert "Its record could not be used, so it was replaced: " in again.stdout
    assert records_of(home) == {"TOWN": NetworkRecord(name="TOWN", feeds=(str(feed),))}


def test_changed_feeds_need_a_refresh_and_list_and_show_report_it(town, feed, tmp_path, home, invoke):
    other = write_feed(tmp_path / "other.zip", feed_from_drawing("line 2 | Gamma 09:00 | Delta 09:10"))
    write_record(home, "TOWN", feeds=[str(other)])
    note = "TOWN was prepared from different feeds than its record lists; answers use the prepared ones. "
    observed = [note in invoke("network", *command).stdout for command in (("list",), ("show", "town"))]
    refreshed = invoke("network", "refresh", "town")
    after = [note in invoke("network", *command).stdout for command in (("list",), ("show", "town"))]

    assert (observed, after) == ([True, True], [False, False])
    assert "TOWN is usable" in refreshed.stdout
    assert [str(stop) for stop in TimetableStore(home).open("TOWN")[1].stop_name] == ["Gamma", "Delta"]


def test_a_folder_of_networks_that_cannot_be_read_is_no_wrong_usage(home, invoke):
    home.mkdir(exist_ok=True)
    (home / "networks").write_bytes(b"")
    failures = [invoke(*command) for command in (("network", "list"), ("plan", "Kamppi", "Tapiola"), ("doctor",))]

    assert [failed.returncode for failed in failures] == [1, 1, 1]
    assert {"networks cannot be read (Not a directory)" in failed.stderr for failed in failures[:2]} == {True}


def test_a_record_that_was_written_by_hand_is_prepared_by_refresh(feed, home, invoke):
    write_record(home, "TOWN", feeds=[os.path.relpath(feed, home)])
    listed, shown = invoke("network", "list").stdout, invoke("network", "show", "TOWN").stdout
    refreshed = invoke("network", "refresh")

    assert "TOWN is not prepared. Run `fingerpost network refresh TOWN`." in listed
    assert "TOWN is not prepared. Run `fingerpost network refresh TOWN`." in shown
    assert "in service; 2 stops" in refreshed.stdout, refreshed.stderr


def test_an_unreadable_import_report_is_named_by_show_and_written_again_by_refresh(town, home, invoke):
    pointer = home / "networks" / "TOWN.json"
    pointer.write_text(json.dumps(json.loads(pointer.read_text()) | {"report": "{}"}))
    shown, refreshed = invoke("network", "show", "town"), invoke("network", "refresh", "town")

    assert (shown.returncode, shown.stderr) == (
        2,
        "The import report of TOWN cannot be read. Run `fingerpost network refresh TOWN`.\n",
    )
    assert "TOWN is usable" in refreshed.stdout


def test_a_wrong_record_is_listed_with_its_sentence_and_can_be_removed(town, home, invoke):
    path = home / "networks" / "TOWN.toml"
    path.write_text(path.read_text() + "colour = 3\n")
    listed = invoke("network", "list").stdout
    shown, refreshed = invoke("network", "show", "town"), invoke("network", "refresh", "town")
    removed = invoke("network", "remove", "town")

    sentence = f"{path}: unknown key 'colour'"
    assert f"TOWN cannot be used: {sentence}" in listed
    assert (shown.returncode, refreshed.returncode, removed.returncode) == (2, 2, 0)
    assert sentence in shown.stderr
    assert (path.exists(), TimetableStore(home).list_names()) == (False, [])


def test_a_record_whose_file_has_an_invalid_name_is_removed_by_that_name(town, home, invoke):
    write_record(home, "town")
    outside = home / "mine.toml"
    outside.write_text("")
    removed = [invoke("network", "remove", name).returncode for name in ("../mine", "town")]

    assert (removed, (home / "networks" / "town.toml").exists(), outside.exists()) == ([2, 0], False, True)
    assert (list(records_of(home)), TimetableStore(home).list_names()) == (["TOWN"], ["TOWN"])


def test_a_network_prepared_without_a_record_is_reported_and_can_be_removed(town, home, invoke):
    """As a command that was killed before its end leaves it."""
    (home / "networks" / "TOWN.toml").unlink()
    listed = invoke("network", "list").stdout
    removed = invoke("network", "remove", "town")

    assert "TOWN was prepared, but has no record and is not in use" in listed
    assert (removed.returncode, TimetableStore(home).list_names()) == (0, [])


# ------------------------------------------------------------------------ a kind of source of somebody else's


class PaperSource:
    def __init__(self):
        self.asked, self.is_closed, self.zone = [], False, "Europe/Lisbon"

    async def learn(self, record):
        self.asked.append(record)
        return LearnedProfile(
            bounds=Bounds(south=1.0, west=2.0, north=3.0, east=4.0),
            zone=self.zone,
            languages=("pt",),
            learned_at=datetime(2026, 3, 10, 8, tzinfo=UTC),
        )

    async def close(self):
        self.is_closed = True


def fill(region):
    if region != "porto":
        raise ParameterError(f"There is no region {region}", {"field": "paper"}, hint="The regions are porto")
    return {"url": "https://example.org/porto", "key": "PAPER_KEY"}


def _call(user: str | None = None, verbose: bool = False):
    """Take the options of the root command."""


@pytest.fixture
def paper(home, monkeypatch):
    source = PaperSource()
    options = (
        AddOption(name="paper", metavar="REGION", help="Ask the paper.", fill=fill),
        AddOption(
            name="paper-map", metavar=None, help="Ask the map.", fill=lambda _: {"url": "https://example.org/map"}
        ),
    )
    kind = SourceKind(kind="paper", source_class="", add_options=options)
    monkeypatch.setattr(SourceKind, "open_source", lambda _kind, _fetch: source)
    for module in (source_kinds, network_add):
        monkeypatch.setattr(module, "REMOTE_KINDS", (kind,))
    app = typer.Typer()

    app.callback()(_call)
    app.command("add")(with_options(network_add.add_network, network_add.list_options()))
    return source, lambda *arguments: app(arguments, standalone_mode=False)


def test_a_kind_of_source_brings_its_option_and_states_its_bounds(paper, home, capsys):
    source, command = paper
    command("add", "porto", "--paper", "porto", "--zone", "Europe/Madrid", "--priority", "2")

    written = tomllib.loads((home / "networks" / "PORTO.toml").read_text())
    assert written == {
        "source": "paper",
        "url": "https://example.org/porto",
        "key": "PAPER_KEY",
        "priority": 2,
        "zone": "Europe/Madrid",
    }
    record = records_of(home)["PORTO"]
    learned = LearnedProfiles(home).find(record)
    assert learned.languages == ("pt",)
    profile = new_remote_profile(record, learned, ())
    assert (profile.zone, profile.bounds) == ("Europe/Madrid", Bounds(south=1.0, west=2.0, north=3.0, east=4.0))
    assert ([record.name for record in source.asked], source.is_closed) == (["PORTO"], True)
    assert capsys.readouterr().out == "PORTO is ready.\n"


def test_an_option_without_a_value_is_a_flag(paper, home):
    paper[1]("add", "porto", "--paper-map")

    assert tomllib.loads((home / "networks" / "PORTO.toml").read_text())["url"].endswith("/map")


@pytest.mark.parametrize(
    ("arguments", "observed"),
    [
        (("--paper", "faro"), "There is no region faro.\nThe regions are porto."),
        (("--paper", "porto", "--paper-map"), "A network has exactly one source, but 2 were given."),
        ((), "Give its feeds or --paper or --paper-map."),
    ],
)
def test_a_network_has_one_source(paper, arguments, observed, home):
    with pytest.raises(ParameterError) as refused:
        paper[1]("add", "porto", *arguments)

    assert observed in "\n".join(describe_error(refused.value))
    assert records_of(home) == {}


def test_a_network_with_a_new_source_keeps_only_common_settings(paper, feed, home):
    _, command = paper
    command("add", "porto", str(feed), "--priority", "4", "--zone", "Europe/Paris")
    command("add", "porto", "--paper", "porto")
    written = tomllib.loads((home / "networks" / "PORTO.toml").read_text())
    prepared, learned = TimetableStore(home).list_names(), LearnedProfiles(home).stamp()
    command("add", "porto", str(feed))

    assert (written["source"], written["priority"]) == ("paper", 4)
    assert not {"zone", "feeds"} & written.keys()
    assert (list(prepared), len(learned)) == ([], 1)
    assert (list(TimetableStore(home).list_names()), LearnedProfiles(home).stamp()) == (["PORTO"], ())


def test_a_remote_source_is_learned_again_by_refresh_shown_and_removed(paper, home, monkeypatch):
    source, command = paper
    command("add", "porto", "--paper", "porto")
    monkeypatch.setattr(network_commands, "REMOTE_KINDS", source_kinds.REMOTE_KINDS)
    before = typer.Typer()
    before.callback()(_call)
    before.add_typer(network_commands.app, name="network")

    def run(*arguments):
        result = CliRunner().invoke(before, ["network", *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    source.zone = "Europe/Madrid"
    assert run("refresh", "porto") == "PORTO: its profile was fetched again.\n"
    assert run("show", "porto").splitlines()[1:] == [
        '  source = "paper"',
        '  url = "https://example.org/porto"',
        '  key = "PAPER_KEY"',
        "Reported by its server on 2026-03-10 08:00:",
        '  bounds = {"south": 1.0, "west": 2.0, "north": 3.0, "east": 4.0}',
        '  zone = "Europe/Madrid"',
        '  languages = ["pt"]',
    ]
    run("remove", "porto")
    assert LearnedProfiles(home).stamp() == ()
