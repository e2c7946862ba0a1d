"""Accessibility, walking distances, obstacles on walks, and languages (rules A7, B6, B9)."""

import pytest

from fingerpost.transit.model.itinerary import Access
from fingerpost.transit.model.place import choose_language
from fingerpost.transit.rules.preferences import (
    AccessLink,
    find_step_free_warning,
    find_weakest_link,
    list_walking_notes,
)
from tests.rules.drawing import point, ride, trip, walk

YES, NO, UNKNOWN = Access.YES, Access.NO, Access.UNKNOWN


def rolling(line, start, trip_access, end):
    """Draw a ride from A to B; start and end say what the stops allow."""
    leg = ride(line, "A", "B", 0, 9, wheelchair=trip_access)
    return leg._replace(start=point("A", start), end=point("B", end))


@pytest.mark.parametrize(
    ("legs", "weakest"),
    [
        ((rolling("7", YES, YES, YES),), (YES, "A")),
        ((rolling("7", YES, UNKNOWN, YES),), (UNKNOWN, "line 7")),
        ((rolling("7", YES, UNKNOWN, NO),), (NO, "B")),
        ((rolling("7", UNKNOWN, UNKNOWN, UNKNOWN),), (UNKNOWN, "A")),
        ((rolling("7", YES, YES, YES), rolling(None, YES, NO, YES)), (NO, "bus")),
        ((walk("home", "work", 0, 9),), (UNKNOWN, "the walk")),
    ],
)
def test_the_weakest_link_is_the_first_of_equals(legs, weakest):
    assert find_weakest_link(trip(*legs)) == AccessLink(*weakest)


@pytest.mark.parametrize(
    ("legs", "supported", "expected"),
    [
        ((rolling("7", YES, YES, YES),), True, None),
        (
            (rolling("7", YES, NO, YES),),
            True,
            ("preference-unmet", "No step-free trip was found. Line 7 is not step-free."),
        ),
        ((rolling("7", YES, YES, UNKNOWN),), True, ("preference-unmet", "B is not known to be step-free.")),
        (
            (rolling("7", YES, YES, YES),),
            False,
            (
                "unsupported-accessibility-flag",
                "Step-free travel could not be considered: this source has no wheelchair data.",
            ),
        ),
    ],
)
def test_step_free_warns_of_missing_data_or_the_weakest_link(legs, supported, expected):
    warning = find_step_free_warning([trip(*legs), trip(*legs)], supported=supported)

    assert (warning and (warning.code, warning.message)) == expected


@pytest.mark.parametrize(("cancelled", "least_m"), [(False, 100), (True, 200)])
def test_the_least_walking_is_that_of_usable_trips(cancelled, least_m):
    """B9: the 100 m of walking do not count if line 7 is cancelled."""
    near = trip(walk("home", "A", 0, 2, metres=100), ride("7", "A", "B", 5, 9, cancelled=cancelled))
    far = trip(walk("home", "work", 0, 20, metres=200))

    assert list_walking_notes([far], [near, far]) == [
        f"Walking 200 m; the itinerary with the least walking requires {least_m} m."
    ]


@pytest.mark.parametrize(
    ("requested", "available", "chosen"),
    [
        ("sv", {"fi", "en", "sv"}, "sv"),
        ("sv", {"fi", "en"}, "fi"),
        ("fi", {"en", "sv"}, "en"),
        ("en", {"sv"}, "sv"),
        ("en", {"de"}, "default"),
        (None, {"en", "fi"}, "fi"),
        ("en", (), "default"),
    ],
)
def test_languages_are_the_requested_then_fi_en_sv(requested, available, chosen):
    assert choose_language(requested, available) == chosen


@pytest.mark.parametrize(
    ("access", "has_unknown_kerbs", "weakest"),
    [
        (Access.NO, False, (Access.NO, "the walk from home to A")),
        (Access.UNKNOWN, True, (Access.UNKNOWN, "a kerb on the walk from home to A")),
        (Access.UNKNOWN, False, (Access.YES, "A")),
    ],
)
def test_steps_and_kerbs_of_a_walk_are_links_of_the_way(access, has_unknown_kerbs, weakest):
    way = walk("home", "A", 0, 5, 300)._replace(wheelchair=access, has_unknown_kerbs=has_unknown_kerbs)

    assert find_weakest_link(trip(way, rolling("7", YES, YES, YES))) == weakest
