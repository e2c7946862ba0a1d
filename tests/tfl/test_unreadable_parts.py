"""An answer of which a part cannot be read: the rest is answered, and what is left out is said."""

from datetime import UTC, datetime

import pytest

from fingerpost.errors import SourceChanged
from fingerpost.net.response import Response
from fingerpost.transit.remote.kit.answers import read_exactly
from fingerpost.transit.remote.tfl.shapes import TflLine
from tests.tfl.asking import a_leg, journeys
from tests.tfl.test_journeys import plan

NOW = datetime(2026, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize("odd", [{"duration": None}, {"departureTime": "noon"}, {"mode": None}])
async def test_a_leg_that_cannot_be_read_costs_its_own_journey_alone(odd):
    """The other journey is shown, and a note counts what is not."""
    told = journeys(a_leg("09:05", "09:15", 10), a_leg("09:25", "09:35", 10))
    told["journeys"][0]["legs"] = [{**a_leg("09:05", "09:15", 10), **odd}]
    answered, _ = await plan(told)

    assert len(answered.itineraries) == 1
    assert answered.provenance.notes == ("The server said what cannot be read, and it is left out: journeys (1).",)


async def test_journeys_of_which_none_can_be_read_are_no_answer():
    """The lines beside them, which TfL always sends, are not what was asked for: a fallback may know more."""
    told = journeys(a_leg("09:05", "09:15", 10))
    told["journeys"][0]["legs"] = [{**a_leg("09:05", "09:15", 10), "duration": None}]

    with pytest.raises(SourceChanged):
        await plan({**told, "lines": [], "stopMessages": ["Closed"]})


async def test_a_status_that_cannot_be_read_is_not_passed_over():
    """A line that is suspended would look undisturbed: who asked hears that TfL did not say."""
    body = b'[{"id": "victoria", "lineStatuses": [{"statusSeverity": "Severe", "reason": "No service"}]}]'
    response = Response(status=200, headers={}, body=body, redacted_url="https://tfl/x", retrieved_at=NOW)

    with pytest.raises(SourceChanged):
        read_exactly(tuple[TflLine, ...], response)


@pytest.mark.parametrize("path", ["5", "[[51.5, NaN], [51.6, 0.0], [51.7, 0.0]]", "[[51.5"])
async def test_a_path_that_cannot_be_read_is_a_straight_line(path):
    """TfL writes it as JSON inside a text."""
    answered, _ = await plan(journeys(a_leg("09:05", "09:15", 10, path={"lineString": path})))

    assert len(answered.draw(answered.itineraries[0].legs[0]).points) == 2
