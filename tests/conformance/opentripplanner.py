"""OpenTripPlanner in the conformance suite for networks.

A server of our own answers its GraphQL from the town; ``make test-otp`` asks a real one.
"""

from types import MappingProxyType

from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.conformance.served_town import URL, ServedTown
from tests.opentripplanner.town_server import TownServer, serving


class OpenTripPlannerConformance(ServedTown):
    name = "opentripplanner"
    new_source = OpenTripPlannerSource
    record = MappingProxyType({"url": f"{URL}/otp/gtfs/v1"})
    gaps = MappingProxyType(
        {"answers_report_the_age_of_realtime": "its API does not report when trips, times or alerts were updated"}
    )

    def serve(self, town, served, fault=None):
        return serving(TownServer(town, served).answer, fault)
