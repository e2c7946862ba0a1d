"""A key goes to its server, and nowhere else: no log, answer, error or file has it."""

import json
import logging

import pytest

from fingerpost.errors import ToolError
from fingerpost.net.request import RequestLimits
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.net.local_server import answer
from tests.opentripplanner.answers import a_board, a_board_query, a_page, a_query, a_ride, a_time, body, data, html
from tests.opentripplanner.digitransit import (
    KEY,
    KEY_HEADER,
    LEARNED,
    Digitransit,
    features,
    new_hsl,
    serving_digitransit,
)
from tests.opentripplanner.test_learning import NETWORK, schema_without

pytest.importorskip("cryptography")

ECHO = f"The key {KEY} of digitransit-subscription-key is not valid"
TROUBLES = [
    answer("401 Unauthorized", json.dumps({"statusCode": 401, "message": ECHO}).encode()),
    answer("403 Forbidden", ECHO.encode()),
    answer("429 Too Many Requests", ECHO.encode(), Retry_After="1"),
    answer("500 Oh", ECHO.encode()),
    html("502 Bad Gateway"),
    answer(body=ECHO.encode()),
    answer("302 Found", Location=f"https://api.digitransit.fi/routing/elsewhere?key={KEY}"),
    body({"errors": [{"message": ECHO}]}),
    body({"data": {"live": None, "stops": None}, "errors": [{"message": ECHO, "path": [KEY]}]}),
    body({"data": {"live": {"edges": KEY}}}),
]


async def _ask_everything(network):
    """Ask each kind of question; return what came, failures as their words."""
    asks = [
        network.plan_journeys(a_query()),
        network.list_departures(a_board_query()),
        network.find_places("Kamppi"),
        network.ask_address(a_query().origin.coordinate),
        network.find_stop("HSL:1040601"),
        network.find_stop_place("HSL:1040601"),
        network.list_stops_near(a_query().origin.coordinate, 300.0),
    ]
    told = []
    for asked in asks:
        try:
            told.append(repr(await asked))
        except ToolError as error:
            told.append(f"{error!r} {error.details} {error.hint} {error.user_message()}")
    return told


def _read_all(folder):
    return "".join(path.read_bytes().decode(errors="replace") for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("trouble", [None, *TROUBLES])
async def test_a_key_is_nowhere_but_on_the_wire(tmp_path, caplog, monkeypatch, trouble):
    """Whatever the servers answer, and should they repeat the key themselves."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("DIGITRANSIT_API_KEY", KEY)
    told = [data(live=a_page([a_ride(headsign=f"To {KEY}")]), stops=[a_board(a_time(headsign=ECHO))])]
    upstream = Digitransit(
        routing=[trouble] if trouble else told,
        geocoding=[trouble or features((f"Kamppi {KEY}", 60.1, 24.9, {}))],
    )
    (tmp_path / "tls").mkdir()
    async with serving_digitransit(tmp_path / "tls", upstream) as client:
        limits = RequestLimits(read_s=60.0, total_s=60.0, attempts=1)
        network = OpenTripPlannerSource(client.fetch, limits).open(new_hsl(), LEARNED)
        answers = await _ask_everything(network)
    sent = [
        asked.headers.get(KEY_HEADER) for asked in upstream.asked if asked.target.startswith(("/routing/v2", "/geo"))
    ]

    assert (len(answers), set(sent)) == (7, {KEY})
    assert [text for text in answers if KEY in text] == []
    assert KEY not in caplog.text


async def test_what_is_learned_holds_no_key(tmp_path, monkeypatch):
    """The file beside the record, though the server put the key into every name."""
    monkeypatch.setenv("DIGITRANSIT_API_KEY", KEY)
    agency = {"name": ECHO, "timezone": "Europe/Helsinki", "lang": "fi"}
    feeds = [{"feedId": "HSL", "publisher": {"name": KEY}, "agencies": [agency]}]
    upstream = Digitransit(routing=[schema_without(), data(**{**NETWORK, "feeds": feeds})])
    async with serving_digitransit(tmp_path, upstream) as client:
        learned = await OpenTripPlannerSource(client.fetch).learn(new_hsl())
    LearnedProfiles(tmp_path / "home").put(new_hsl(), learned)

    assert KEY not in _read_all(tmp_path / "home")
    assert "Digitransit, CC BY 4.0" in learned.attribution


async def test_a_missing_key_is_named_before_anything_is_sent(tmp_path):
    """The variable, not the server's 401."""
    upstream = Digitransit(routing=[data()])
    async with serving_digitransit(tmp_path, upstream, environ={}) as client:
        network = OpenTripPlannerSource(client.fetch).open(new_hsl(), LEARNED)
        with pytest.raises(ToolError, match="DIGITRANSIT_API_KEY is not set"):
            await network.plan_journeys(a_query())

    assert upstream.asked == []
