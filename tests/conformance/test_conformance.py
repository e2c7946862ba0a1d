"""Every shipped source passes every check of the suite, or declares a gap with a reason."""

import pytest

from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.motis import MotisConformance
from tests.conformance.opentripplanner import OpenTripPlannerConformance
from tests.conformance.suite import CHECKS, check_abilities, run_check
from tests.conformance.tfl import TflConformance

SOURCES = [EmbeddedConformance, MotisConformance, OpenTripPlannerConformance, TflConformance]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_a_source_passes_every_check(source, check):
    gap = run_check(source(), check)
    if gap is not None:
        pytest.skip(str(gap))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_source_declares_or_explains_every_ability(source):
    check_abilities(source())
