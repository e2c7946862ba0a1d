"""What is made ahead in a thread comes as if it were made here."""

import threading

import pytest

from fingerpost.transit.engine.gtfs.csv.encoding import prefetch


def test_the_next_is_made_while_one_is_in_use():
    """It is finished before the caller asks for it."""
    made = threading.Event()

    def items():
        yield "first"
        made.set()
        yield "second"

    ahead = prefetch(items(), "test")
    assert (next(ahead), made.wait(30), next(ahead)) == ("first", True, "second")


def test_an_error_is_raised_in_its_turn():
    """What came before it is still had."""

    def items():
        yield 1
        raise ValueError("broken")

    ahead = prefetch(items(), "test")
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="broken"):
        next(ahead)


def test_whoever_stops_half_way_leaves_no_thread():
    """Closing waits for what is being made, and no more."""
    ahead = prefetch(iter(range(1, 100)), "left")
    next(ahead)
    ahead.close()

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("fingerpost-left")]
