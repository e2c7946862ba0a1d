"""An invalid record disables only its network; the message names the file, the error and the fix."""

import pytest

from fingerpost.apps.source_kinds import open_record_store
from fingerpost.store.network_records import KEYS

WRONG = {
    "an unknown key": ('feds = ["x.zip"]', f"unknown key 'feds'; the keys are {', '.join(KEYS)}"),
    "its own name as a key": ('name = "BAD"', "unknown key 'name'"),
    "a text for a list": (
        'feeds = "https://example.org/?api_key=s3cr3t"',
        "feeds must be a list of quoted strings, none of them empty; correct the line",
    ),
    "a number for a text": (
        "zone = 2",
        "zone must be an IANA time zone such as Europe/Helsinki, in quotes; correct the line",
    ),
    "a text for a number": ('priority = "5"', "priority must be a whole number; correct the line"),
    "no time zone": ('zone = "Europe/Helsingfors"', "zone must be an IANA time zone such as Europe/Helsinki"),
    "three bounds": ("bounds = [1, 2, 3]", "bounds must be a list of four numbers"),
    "south above north": ("bounds = [61, 24, 60, 25]", "bounds must be a list of four numbers in degrees: south, west"),
    "beyond the pole": ("bounds = [60, 24, 90.1, 25]", "bounds must be a list of four numbers in degrees: south, west"),
    "no language code": ('languages = ["Finnish"]', "languages must be codes"),
    "an unknown kind": ('source = "gfts"', "unknown source kind 'gfts'; the kinds are gtfs, "),
    "a key instead of its variable": (
        'key = "0123-s3cr3t"',
        "key must be the name of an environment variable in capitals, such as MY_KEY, not the key itself",
    ),
    "a key in the clear in a feed": (
        'feeds = ["https://example.org/a.zip?api_key=s3cr3t"]',
        "the address contains a key (api_key), which would be stored; put it in an environment variable",
    ),
    "a key in the clear in real time": (
        'realtime = ["A=https://example.org/a.pb?token=s3cr3t"]',
        "the address contains a key (token)",
    ),
    "a password in an address": ('url = "https://me:s3cr3t@example.org/"', "the address contains a password"),
    "an unknown fallback": ('fallback = "GOD"', "its fallback 'GOD' is not an added network; name another network"),
    "itself as its fallback": (
        'fallback = "BAD"',
        "its fallbacks form a cycle (BAD → BAD); remove one of these fallbacks",
    ),
    "no TOML": ('source = "gtfs"\nfeeds = ["x.zip"', "the file is not TOML ("),
    "lists in lists": (f"feeds = {'[' * 5000}{']' * 5000}", "the file is not TOML ("),
    "no UTF-8": (b"# caf\xe9\n", "the file is not UTF-8; save it as UTF-8"),
}


def read(home, **texts):
    (home / "networks").mkdir()
    for name, text in texts.items():
        (home / "networks" / f"{name}.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_record_store(home).read()


@pytest.mark.parametrize(("text", "what"), WRONG.values(), ids=WRONG)
def test_a_wrong_record_disables_only_its_network(tmp_path, text, what):
    records = read(tmp_path, GOOD="priority = 1", BAD=text)
    problem = records.problems["BAD"]

    assert (list(records.records), list(records.problems)) == (["GOOD"], ["BAD"])
    assert problem.startswith(f"{tmp_path / 'networks' / 'BAD.toml'}: {what}")
    assert "s3cr3t" not in problem


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("bad", "a network cannot be called 'bad'; rename the file to BAD.toml"),
        ("DEMO-X", "a network cannot be called 'DEMO-X'; use up to 40 letters A-Z, digits, _ and -, not beginning"),
    ],
)
def test_a_file_whose_name_no_network_can_have_is_a_problem(tmp_path, name, what):
    assert what in read(tmp_path, **{name: ""}).problems[name]


def test_a_folder_in_place_of_a_record_is_a_problem(tmp_path):
    (tmp_path / "networks" / "BAD.toml").mkdir(parents=True)

    assert "the file cannot be read (Is a directory)" in open_record_store(tmp_path).read().problems["BAD"]


def test_a_circle_of_fallbacks_disables_its_members_only(tmp_path):
    records = read(tmp_path, **{name: f'fallback = "{fallback}"' for name, fallback in ("AB", "BC", "CA", "DA")})

    assert list(records.records) == ["D"]
    assert [problem.partition("cycle ")[2].partition(";")[0] for problem in records.problems.values()] == [
        "(A → B → C → A)",
        "(B → C → A → B)",
        "(C → A → B → C)",
    ]


def test_a_record_whose_fallback_is_wrong_can_be_used(tmp_path):
    records = read(tmp_path, A='fallback = "B"', B='priority = "high"')

    assert (list(records.records), list(records.problems)) == (["A"], ["B"])


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path):
    records = read(tmp_path, A="\ufeffpriority = 1\r\nbounds = [1, 2, 3, 4]\r\n").records

    assert (records["A"].priority, records["A"].bounds) == (1, (1.0, 2.0, 3.0, 4.0))


def test_an_empty_home_has_no_records_and_stays_empty(tmp_path):
    assert dict(open_record_store(tmp_path).read().records) == {}
    assert list(tmp_path.iterdir()) == []


def test_a_tilde_without_a_user_is_part_of_the_name(tmp_path):
    assert list(read(tmp_path, DRAFT='feeds = ["~draft.zip"]').records) == ["DRAFT"]
