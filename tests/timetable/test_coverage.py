"""Service days, including gaps."""

from datetime import date

import pytest

from fingerpost.transit.model.provenance import ServiceDays, ServiceState, find_service_days


def march(day):
    return date(2026, 3, day)


DAYS = find_service_days([march(3), march(2), march(6), march(10), march(6)])


def test_gaps_are_the_runs_of_days_between():
    assert (
        ServiceDays(first_day=march(2), last_day=march(10), gaps=((march(4), march(5)), (march(7), march(9)))) == DAYS
    )


@pytest.mark.parametrize(
    ("day", "state", "next_day", "said"),
    [
        (1, ServiceState.NOT_BEGUN, 2, "begins on 2026-03-02"),
        (2, ServiceState.IN_SERVICE, 2, "in service"),
        (4, ServiceState.PAUSED, 6, "no service, resumes on 2026-03-06"),
        (9, ServiceState.PAUSED, 10, "no service, resumes on 2026-03-10"),
        (10, ServiceState.IN_SERVICE, 10, "in service"),
        (11, ServiceState.ENDED, None, "ended on 2026-03-10"),
    ],
)
def test_a_day_is_classified_by_its_period(day, state, next_day, said):
    observed = (DAYS.state_on(march(day)), DAYS.find_next_day(march(day)), DAYS.format_service_state(march(day)))
    assert observed == (state, next_day and march(next_day), said)


def test_without_bounds_any_day_is_served():
    assert ServiceDays().state_on(march(1)) is ServiceState.IN_SERVICE
    assert find_service_days([]) == ServiceDays()


@pytest.mark.parametrize(("day", "state"), [(9, ServiceState.IN_SERVICE), (11, ServiceState.ENDED)])
def test_one_bound_is_enough(day, state):
    assert ServiceDays(last_day=march(10)).state_on(march(day)) is state
