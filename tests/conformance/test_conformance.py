"""Every shipped source passes every check of the suite, or declares a gap with a reason."""

import pytest

from fingerpost.testing.networks.suite import FACTS, check, check_abilities
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.motis import MotisConformance
from tests.conformance.opentripplanner import OpenTripPlannerConformance
from tests.conformance.tfl import TflConformance

SOURCES = [EmbeddedConformance, MotisConformance, OpenTripPlannerConformance, TflConformance]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
@pytest.mark.parametrize("fact", FACTS, ids=str)
def test_a_source_passes_every_fact(source, fact):
    gap = check(source(), fact)
    if gap is not None:
        pytest.skip(str(gap))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_source_declares_or_explains_every_ability(source):
    check_abilities(source())
