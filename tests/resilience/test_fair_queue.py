"""A queue that callers share fairly."""

from fingerpost.runtime.fair_queue import FairQueue


def drawn(*pieces):
    """Draw a queue of (caller, piece) in the order in which they came."""
    queue = FairQueue()
    for caller, piece in pieces:
        queue.put(caller, piece)
    return queue


def taken(queue, **only):
    """Return what waits, in the order in which it is served."""
    return list(iter(lambda: queue.take(**only), None))


def test_callers_take_turns():
    """Of three pieces of one and two of another, every second is the other's until it has no more."""
    queue = drawn(("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("b", "b2"))

    assert taken(queue) == ["a1", "b1", "a2", "b2", "a3"]


def test_a_caller_who_may_not_begin_keeps_nobody_waiting():
    """It is passed over, and keeps its turn."""
    queue = drawn(("a", "a1"), ("b", "b1"), ("b", "b2"))

    assert taken(queue, may_begin=lambda caller: caller == "b") == ["b1", "b2"]
    assert taken(queue) == ["a1"]


def test_who_was_there_before_goes_first():
    """A piece may go ahead of its caller's others, and of nobody else's."""
    queue = drawn(("a", "a1"), ("b", "b1"), ("b", "b2"))
    queue.put("b", "b0", is_first=True)

    assert [queue.count_before("b", piece) for piece in ("b0", "b1", "b2")] == [0, 1, 2]
    assert taken(queue) == ["a1", "b0", "b1", "b2"]


def test_what_waits_no_longer_is_not_served():
    """Dropped twice, or never there, is nothing."""
    queue = drawn(("a", "a1"), ("a", "a2"), ("b", "b1"))
    for caller, piece in (("a", "a1"), ("a", "a1"), ("b", "b1"), ("c", "c1")):
        queue.drop(caller, piece)

    assert taken(queue) == ["a2"]
    assert queue.take() is None
