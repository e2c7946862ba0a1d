"""Answers on the real Helsinki feed stay within their sizes."""

import json
import random

import pytest


def _minified(body):
    return len(json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())


@pytest.mark.parametrize(("limit", "most_bytes"), [(2, 10_000), (3, 15_000)])
def test_a_plan_stays_within_its_size(ask, limit, most_bytes):
    """A11, P62: default plans stay within 10 KB, three itineraries within 15 KB, anywhere in the feed."""
    dice = random.Random(limit)
    sizes = []
    for _ in range(25):
        ends = [
            {"type": "coords", "value": {"lat": dice.uniform(60.16, 60.24), "lon": dice.uniform(24.88, 24.98)}}
            for _ in "ab"
        ]
        answer = ask("plan_trip", {"origin": ends[0], "destination": ends[1], "limit": limit})
        if not answer.is_error:
            sizes.append(_minified(answer.body))

    assert len(sizes) >= 20
    assert max(sizes) <= most_bytes


@pytest.mark.parametrize(("limit", "most_bytes"), [(10, 2_500), (50, 11_000)])
def test_a_board_stays_within_its_size(ask, limit, most_bytes):
    """A11, D33, D34: ten rows stay within 2.5 KB, fifty within 11 KB, at the busiest places."""
    sizes = []
    for place in ("Rautatientori", "Kamppi", "Hakaniemi", "Lasipalatsi", "Pasilan asema"):
        answer = ask(
            "get_departures", {"stop": {"type": "label", "value": place}, "windowMinutes": 120, "limit": limit}
        )
        assert len(answer.body["departures"]) == limit
        sizes.append(_minified(answer.body))

    assert max(sizes) <= most_bytes
