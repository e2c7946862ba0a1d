"""The real Helsinki feed in a separate timetable store, and the tools over it."""

import pytest

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.contracts.conftest import asker_of
from tests.homes import keep_network, open_networks
from tests.shared_data import get_shared

MORNING = "2022-02-22T06:00:00Z"


@pytest.fixture(scope="session")
def helsinki_home(tmp_path_factory):
    feed = get_shared("gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip")
    home = tmp_path_factory.mktemp("home")
    imported = import_feeds("HSL", [FeedSource(feed)])
    keep_network(home, "HSL", imported.timetable, report=imported.report.to_json())
    return home


@pytest.fixture
def ask(helsinki_home, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", MORNING)
    return asker(helsinki_home)


def asker(home):
    return asker_of(open_networks(home), home)
