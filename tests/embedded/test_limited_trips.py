"""B14: a shorter answer of plan_trip is the beginning of a longer one, for departures and for arrivals."""

import os

import pytest

from tests.embedded.test_riders_against_oracle import riders

__all__ = ["riders"]

CHUNKS = range(20, 21)
LIMITS = (1, 2, 3)
# The rest of the drawing's chunk is for soak.
TRIED = 100_000 if os.environ.get("FINGERPOST_SOAK") else 40


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("type_", ["depart", "arrive"])
def test_every_shorter_answer_is_the_beginning_of_the_longest(riders, chunk, type_):
    """Over random networks under random real time: itineraries, what was found, and what could not be used."""
    cut = 0
    for seed, rider in riders(chunk):
        if seed - chunk * 100 >= TRIED:
            break
        rider.wanted = rider.now + 8 * 3600
        when = {"when": rider.arrive()} if type_ == "arrive" else {}
        answers = [rider.ask(limit=limit, **when) for limit in LIMITS]
        longest = answers[-1]
        if "error" in longest:
            assert all(each["error"]["code"] == longest["error"]["code"] for each in answers), seed
            continue
        for limit, answer in zip(LIMITS, answers, strict=True):
            assert answer["itineraries"] == longest["itineraries"][:limit], (seed, limit)
            assert answer["meta"].get("deduplicatedFrom") == longest["meta"].get("deduplicatedFrom"), (seed, limit)
        cut += len(longest["itineraries"]) > 1
    assert cut
