"""Paths through trips that continue as others: every stretch on which a rider can stay is in one of them."""

import random
from itertools import pairwise

import pytest

from fingerpost.transit.engine.raptor.search_timetable.in_seat import list_paths


def paths_of(pairs, instances=10, stop_times=2):
    first, then = zip(*pairs, strict=True)
    return sorted(list_paths(list(first), list(then), [stop_times] * instances))


@pytest.mark.parametrize(
    ("stop_times", "ways"), [(10_000, [[0, 1, 2]]), (10_001, [[0, 1], [1, 2]]), (15_001, [[0], [1], [2]])]
)
def test_long_values_are_cut(stop_times, ways):
    """The kernels count 30,000 stop times of a trip: three, two or no rides of this length are one."""
    assert paths_of([(0, 1), (1, 2)], stop_times=stop_times) == ways


def test_multiplying_ways_are_bounded_and_no_rider_is_lost(caplog):
    layers = [range(8 * layer, 8 * layer + 8) for layer in range(50)]
    pairs = [(one, other) for here, there in pairwise(layers) for one in here for other in there]
    ways = paths_of(pairs, instances=400)

    assert sum(map(len, ways)) <= 16 * 400 + 50 + 400
    assert {instance for way in ways for instance in way} == set(range(400))
    assert "divide and join too often" in caplog.text


def test_every_reachable_pair_has_one_way_and_no_way_leaves_the_pairs():
    for seed in range(1000):
        dice = random.Random(seed)
        count = dice.randint(2, 9)
        pairs = {tuple(sorted(dice.sample(range(count), 2))) for _ in range(dice.randint(1, 12))}
        ways = paths_of(sorted(pairs), count)

        assert all(pair in pairs for way in ways for pair in pairwise(way))
        assert {(one, other) for way in ways for at, one in enumerate(way) for other in way[at + 1 :]} == _closure(
            pairs
        )
        assert {instance for way in ways for instance in way} == {instance for pair in pairs for instance in pair}


def _closure(pairs):
    reached = set(pairs)
    while True:
        more = {(a, d) for a, b in reached for c, d in reached if b == c} - reached
        if not more:
            return reached
        reached |= more
