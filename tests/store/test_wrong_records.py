"""A wrong record disables its network alone; the sentence says file, line and remedy."""

import pytest

from fingerpost.apps.record_file import open_record_file
from fingerpost.store.network_record import KEYS
from fingerpost.store.network_records import FILE_NAME, NetworkRecord

GOOD = """
[networks.GOOD]
source = "gtfs"
feeds = ["/feeds/good.zip"]
"""
# What stands before every wrong record: the wrong one begins at line 7.
FIRST_LINE = 7
NOBODY = NetworkRecord(name="GOOD", feeds=("/feeds/good.zip",))


def read(tmp_path, text):
    path = tmp_path / FILE_NAME
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_record_file(tmp_path).read()


def lines(text):
    return f"{GOOD}# The one below is wrong.\n\n{text}\n"


WRONG = {
    "a key that no record has": (
        '[networks.BAD]\nsource = "gtfs"\nfeds = ["x.zip"]',
        2,
        "a record has no key 'feds'; did you mean feeds?",
    ),
    "a key like no other": (
        "[networks.BAD]\ncolour = 1",
        1,
        f"a record has no key 'colour'; a record has {', '.join(KEYS)}",
    ),
    "its own name as a key": ('[networks.BAD]\nname = "BAD"', 1, "a record has no key 'name'"),
    "a text for a list": (
        '[networks.BAD]\n\nfeeds = "https://example.org/?api_key=s3cr3t"',
        2,
        "feeds must be a list of texts in quotes, none of them empty; correct the line",
    ),
    "an empty text in a list": ('[networks.BAD]\nfeeds = [""]', 1, "feeds must be a list of texts in quotes"),
    "a number for a text": ("[networks.BAD]\nzone = 2", 1, "zone must be a text in quotes; correct the line"),
    "a text for a number": ('[networks.BAD]\npriority = "5"', 1, "priority must be a whole number; correct the line"),
    "a fraction for a whole number": ("[networks.BAD]\npriority = 5.0", 1, "priority must be a whole number"),
    "true for a number": ("[networks.BAD]\npriority = true", 1, "priority must be a whole number"),
    "a zone that is none": (
        '[networks.BAD]\nzone = "Europe/Helsingfors"',
        1,
        "zone must be an IANA time zone such as Europe/Helsinki, not 'Europe/Helsingfors'",
    ),
    "a folder of zones": ('[networks.BAD]\nzone = "Europe"', 1, "zone must be an IANA time zone"),
    "three bounds": ("[networks.BAD]\nbounds = [1, 2, 3]", 1, "bounds must be a list of four numbers"),
    "a truth among the bounds": ("[networks.BAD]\nbounds = [1, 2, 3, true]", 1, "bounds must be a list of four"),
    "no number among the bounds": ("[networks.BAD]\nbounds = [1, 2, 3, nan]", 1, "bounds must be a list of four"),
    "south above north": ("[networks.BAD]\nbounds = [61, 24, 60, 25]", 1, "bounds must be south, west, north, east"),
    "beyond the pole": ("[networks.BAD]\nbounds = [60, 24, 90.1, 25]", 1, "bounds must be south, west, north, east"),
    "a language that is no code": ('[networks.BAD]\nlanguages = ["Finnish"]', 1, "languages must hold codes"),
    "a kind that nobody knows": (
        '[networks.BAD]\nsource = "gfts"',
        1,
        "there is no kind of source 'gfts'; did you mean gtfs?",
    ),
    "a key where its variable's name belongs": (
        '[networks.BAD]\nkey = "0123-s3cr3t"',
        1,
        "key must name an environment variable in capitals, such as MY_KEY, not hold the key; correct the line",
    ),
    "a key in the clear in a feed": (
        '[networks.BAD]\nfeeds = ["https://example.org/a.zip?api_key=s3cr3t"]',
        1,
        "the address holds a key (api_key), which would be stored; put it into an environment variable and write ${NAM",
    ),
    "a key in the clear in real time": (
        '[networks.BAD]\nrealtime = ["A=https://example.org/a.pb?token=s3cr3t"]',
        1,
        "the address holds a key (token)",
    ),
    "a password in an address": (
        '[networks.BAD]\nurl = "https://me:s3cr3t@example.org/"',
        1,
        "the address holds a password",
    ),
    "a fallback that is not there": (
        '[networks.BAD]\nfallback = "GOD"',
        1,
        "its fallback 'GOD' is no network of this file; did you mean GOOD?",
    ),
    "itself as its fallback": (
        '[networks.BAD]\nfallback = "BAD"',
        1,
        "its fallback goes in a circle (BAD → BAD); remove one of these fallbacks",
    ),
    "a name in small letters": ("[networks.bad]", 0, "a network cannot be called 'bad'; write [networks.BAD]"),
    "a demo's name": (
        "[networks.DEMO-X]",
        0,
        "a network cannot be called 'DEMO-X'; take up to 40 letters A-Z, digits, _ and -, not beginning with DEMO-",
    ),
    "a name that is a path": ('[networks."../X"]', 0, "a network cannot be called '../X'; take up to 40 letters"),
    "no TOML": ('[networks.BAD]\nsource = "gtfs"\nfeeds = ["x.zip"', 2, "this is no TOML ("),
    "a header without its bracket": ("[networks.BAD\npriority = 1", 0, "this is no TOML ("),
    "no TOML in the middle": ("[networks.BAD]\nzone = Europe\npriority = 1", 1, "this is no TOML ("),
    "a text that is not closed": ('[networks.BAD]\nzone = """Europe', 1, "this is no TOML ("),
    "a record that stands twice": (
        "[networks.BAD]\npriority = 1\n[networks.BAD]",
        2,
        f"[networks.BAD] stands here a second time, after line {FIRST_LINE}; correct the line",
    ),
    "a value for a record": ("[networks]\nBAD = 1", 1, "[networks.BAD] is no table; correct the line"),
}


@pytest.mark.parametrize(("text", "line", "what"), WRONG.values(), ids=WRONG)
def test_a_wrong_record_disables_its_network_alone(tmp_path, text, line, what):
    """One of each kind below a good one: the good one is there, the sentence names file, line and remedy."""
    records = read(tmp_path, lines(text))
    ((name, problem),) = records.problems.items()

    assert dict(records.records) == {"GOOD": NOBODY}
    assert name in text
    assert problem.startswith(f"{tmp_path / FILE_NAME}, line {FIRST_LINE + line}: {what}")
    assert "s3cr3t" not in problem


def test_a_mistake_above_leaves_what_is_below(tmp_path):
    """The text that is not closed swallows nobody."""
    records = read(tmp_path, f'[networks.BAD]\nzone = """Europe\n{GOOD}')

    assert (dict(records.records), list(records.problems)) == ({"GOOD": NOBODY}, ["BAD"])


def test_three_in_a_circle_are_told_the_way_and_a_fourth_goes_on(tmp_path):
    """A → B → C → A; D falls back on one of them, which is its own affair no more than a network that fails."""
    text = "".join(f'[networks.{name}]\nfallback = "{fallback}"\n' for name, fallback in ("AB", "BC", "CA", "DA"))
    records = read(tmp_path, text)

    assert list(records.records) == ["D"]
    assert [problem.partition("circle ")[2].partition(";")[0] for problem in records.problems.values()] == [
        "(A → B → C → A)",
        "(B → C → A → B)",
        "(C → A → B → C)",
    ]


def test_a_record_whose_fallback_is_wrong_can_be_used(tmp_path):
    """Only the wrong one is disabled."""
    records = read(tmp_path, '[networks.A]\nfallback = "B"\n[networks.B]\npriority = "high"\n')

    assert (list(records.records), list(records.problems)) == (["A"], ["B"])


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("\n[network.HSL]\n", 2, "there is no setting `network`, only tables [networks.NAME]"),
        ("\nnetworks = 3\n", 2, "`networks` is no table [networks.NAME]"),
        ("\n= 3\n", 2, "this is no TOML ("),
        (b"\n# caf\xe9\n", 2, "this is not UTF-8"),
    ],
)
def test_what_belongs_to_no_record_is_told_under_the_files_name(tmp_path, text, line, what):
    """The records go on."""
    content = text if isinstance(text, bytes) else text.encode()
    good = GOOD if b"networks = 3" not in content else ""
    records = read(tmp_path, content + good.encode())

    assert list(records.records) == (["GOOD"] if good else [])
    assert records.problems[FILE_NAME].startswith(f"{tmp_path / FILE_NAME}, line {line}: {what}")


def test_other_ways_to_write_a_record_are_read(tmp_path):
    """Dotted keys, a table in a line, a mark of byte order, lines that end as on Windows."""
    text = "\ufeffnetworks.A.priority = 1\r\nnetworks.B = { priority = 2, bounds = [1, 2, 3, 4] }\r\n"
    records = read(tmp_path, text).records

    assert {name: record.priority for name, record in records.items()} == {"A": 1, "B": 2}
    assert records["B"].bounds == (1.0, 2.0, 3.0, 4.0)


def test_the_line_of_a_dotted_key_is_found(tmp_path):
    """Not only that of a table."""
    problems = read(tmp_path, '[networks]\nA.priority = 1\n\nA.zone = "Nowhere"\n').problems

    assert ", line 4: zone must be" in problems["A"]


def test_without_a_file_there_is_no_record(tmp_path):
    """And nothing is written."""
    assert dict(open_record_file(tmp_path).read().records) == {}
    assert list(tmp_path.iterdir()) == []
