"""How a line's day is written."""

from hypothesis import given
from hypothesis import strategies as st

from fingerpost.transit.engine.demo.departures import read_departures
from fingerpost.transit.engine.demo.entry import TableEntry

ENTRY = TableEntry("town.toml", "line 1", {}, {})


def read(text: str) -> list[str]:
    return [f"{s // 3600:02}:{s % 3600 // 60:02}" for s in read_departures(ENTRY, "departures", text)]


def test_a_period_ends_where_the_next_begins():
    """At 06:00 the step changes from ten minutes to twenty; 06:00 itself is one departure, not two."""
    assert read("05:40 /10 06:00 /20 07:00") == ["05:40", "05:50", "06:00", "06:20", "06:40", "07:00"]


def test_a_step_that_does_not_fit_is_cut_by_the_next_time():
    """Every twenty minutes from 05:30, but 06:00 is a departure all the same."""
    assert read("05:30 /20 06:00") == ["05:30", "05:50", "06:00"]


def test_a_step_that_just_fits_adds_nothing_before_the_next_time():
    """With a step of 30 there is nothing between 05:30 and 06:00; with 29 there is 05:59."""
    assert (read("05:30 /30 06:00"), read("05:30 /29 06:00")) == (["05:30", "06:00"], ["05:30", "05:59", "06:00"])


def test_departures_after_midnight_belong_to_the_day_before():
    """The service day goes on past 24:00."""
    assert read("23:40 /20 24:20") == ["23:40", "24:00", "24:20"]


def test_two_times_without_a_step_have_nothing_between():
    """A line may rest at noon."""
    assert read("09:00 15:00") == ["09:00", "15:00"]


@given(st.lists(st.integers(0, 30 * 60), min_size=1, max_size=6, unique=True).map(sorted), st.data())
def test_minute_by_minute_the_same_departures_are_found(anchors, data):
    """A slow walk through the day, looking at each minute, leaves as often as the reader says."""
    steps = [data.draw(st.none() | st.integers(1, 90)) for _ in anchors[1:]]
    text = f"{anchors[0] // 60:02}:{anchors[0] % 60:02}"
    expected = []
    for minute in range(31 * 60):
        last = max((anchor for anchor in anchors if anchor <= minute), default=None)
        if last is None or minute > anchors[-1]:
            continue
        step = steps[anchors.index(last)] if last != anchors[-1] else None
        if minute == last or (step is not None and (minute - last) % step == 0):
            expected.append(minute * 60)
    for step, anchor in zip(steps, anchors[1:], strict=True):
        text += f" /{step}" * (step is not None) + f" {anchor // 60:02}:{anchor % 60:02}"

    assert list(read_departures(ENTRY, "departures", text)) == expected
