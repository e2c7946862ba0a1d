"""How long cached answers are served, as documented on the providers' pages."""

import importlib

import pytest

from fingerpost.transit.remote.kit.server import STOPS_FRESH_S


@pytest.mark.parametrize(("source", "seconds"), [("motis", 10), ("opentripplanner", 10), ("tfl", 30)])
def test_live_answers_are_served_again_for_seconds_only(source, seconds):
    server = importlib.import_module(f"fingerpost.transit.remote.{source}.server")

    assert seconds == server.LIVE_FRESH_S
    assert STOPS_FRESH_S == 600
