"""Adding a network that has ended, or that is far away, changes no answer about the first (rule A13)."""

import random
from dataclasses import replace

import pytest

from tests.addresses.drawn import node, opened_index
from tests.contracts.conftest import asker
from tests.worlds.feeds import draw_world
from tests.worlds.opening import open_world

# (seed of the first, seed of the added, clock); both have similar names and streets.
PAIRS = {
    "ended-here": (10, 127, "2026-03-31T06:00:00+00:00"),
    "ended-here-too": (46, 6, "2026-10-27T06:00:00+00:00"),
    "far": (52, 7, "2027-01-01T06:00:00+00:00"),
    "far-too": (73, 16, "2027-01-02T06:00:00+00:00"),
}
QUESTIONS = 125
# The added network has stops of the first two names, which may also mean a place of the first, and one like the third.
WORDS = ("library", "home", "work")
RENAMED = {"Mill": "Library", "Мельница": "Library", "Church": "Home", "Церковь": "Home", "Рынок": "Work Lane"}


class Questions:
    """Draws calls about the places of a world: by position and id, and by name near a position."""

    def __init__(self, seed, world, names, ids, now):
        self._dice, self._world, self._names, self._ids, self._now = random.Random(seed), world, names, ids, now

    def draw(self):
        choose = self._dice.choice
        name, stop_id, word = choose(self._names), choose(self._ids), choose(WORDS)
        return choose((
            ("findAddressOrStop", {"rawText": word, "focusPoint": self._draw_place()}),
            ("get_departures", {"stop": word, "at": self._now, "walkFrom": stop_id}),
            ("planRoute", {"origin": stop_id, "destination": word, "departureTime": self._now}),
            ("findAddressOrStop", {"rawText": name, "focusPoint": self._draw_place()}),
            ("find_stops", {"coordinate": self._draw_place()}),
            ("plan_trip", {"origin": self._draw_end(), "destination": self._draw_end(), "when": self._draw_time()}),
            ("plan_trip", {
                "origin": {"type": "coords", "value": self._draw_place()},
                "destination": {"type": "label", "value": name},
                "when": self._draw_time(),
            }),
            ("planRoute", {
                "origin": {"rawText": stop_id}, "destination": {"rawText": name}, "departureTime": self._now,
            }),
            ("get_departures", {"stop": {"type": "id", "value": stop_id}, "at": self._now, "windowMinutes": 120}),
            ("get_departures", {"stop": name, "at": self._now, "walkFrom": stop_id}),
            ("getStopTimetable", {"stopId": stop_id, "at": self._now}),
        ))  # fmt: skip

    def _draw_place(self):
        lat, lon = self._dice.choice(self._world.stops)
        return {
            "lat": round(lat + self._dice.uniform(-0.003, 0.003), 5),
            "lon": round(lon + self._dice.uniform(-0.003, 0.003), 5),
        }

    def _draw_end(self):
        if self._dice.random() < 0.5:
            return {"type": "coords", "value": self._draw_place()}
        return {"type": "label", "value": self._dice.choice(self._ids)}

    def _draw_time(self):
        return {"type": self._dice.choice(("depart", "arrive")), "time": self._now}


@pytest.mark.parametrize("pair", PAIRS)
def test_an_ended_or_a_far_network_changes_no_answer_about_the_first(pair, tmp_path, monkeypatch):
    seed, added_seed, now = PAIRS[pair]
    monkeypatch.setenv("FINGERPOST_NOW", now)
    world, other = (draw_world(each, with_streets=False) for each in (seed, added_seed))
    stops = other.feeds["W"]["stops.txt"].decode()
    for old, new in RENAMED.items():
        stops = stops.replace(old, new)
    # A home never has two networks with one FEED.
    other = replace(other, feeds={"OTHER": other.feeds["W"] | {"stops.txt": stops.encode()}})
    folders = [tmp_path / "first", tmp_path / "added"]
    for folder in folders:
        folder.mkdir()
    added = open_world(other, folders[1])
    added.network.configure(added.network.record.model_copy(update={"name": "OTHER"}))
    (lat, lon), other_at = world.stops[:2]
    named = [node(lat, lon, amenity="library", name="Lending Library"), node(*other_at, shop="yes", name="Home Store")]
    with opened_index(tmp_path, named) as addresses:
        first = open_world(world, folders[0], addresses=addresses)
        asks = [asker(tmp_path, first.network), asker(tmp_path, first.network, added.network)]
        places = first.network.stops.places.list_places()
        names, ids = sorted({place.name for place in places}), sorted(place.token for place in places)
        questions = Questions(seed, world, names, ids, now)
        for _ in range(QUESTIONS):
            tool, arguments = questions.draw()
            alone, beside = (ask(tool, arguments).body for ask in asks)

            assert alone == beside, (tool, arguments)
