"""The stops around one end of a trip, and how the other end restricts them."""

import numpy as np

from fingerpost.transit.engine.raptor.search import Endpoint


def _end(*metres):
    walked_m = np.array(metres, np.int32)
    return Endpoint(
        lat=0.0, lon=0.0, stop=np.arange(len(metres), dtype=np.int32), seconds=walked_m // 2, metres=walked_m
    )


def test_stops_too_far_to_walk_from_the_other_end_too_are_left_out():
    """Of 1,500 m in sum the other end takes 400: a stop at 1,100 m stays, one at 1,101 m goes."""
    left = _end(900, 1100, 1101).within(1500 - _end(700, 400).min_walk_m)

    assert (left.stop.tolist(), left.seconds.tolist(), left.metres.tolist()) == ([0, 1], [450, 550], [900, 1100])


def test_an_end_without_stops_does_not_affect_the_other():
    assert _end().min_walk_m == 0
