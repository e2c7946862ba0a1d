"""MOTIS in the conformance suite for networks: our own server answers in MOTIS' format with the town's data."""

from types import MappingProxyType

from fingerpost.transit.remote.motis.network import MotisSource
from tests.conformance.served_town import ServedTown
from tests.motis.town_server import TownServer, serving


class MotisConformance(ServedTown):
    """The town behind MOTIS' API; ``heard`` is given every server before it serves."""

    name = "motis"
    new_source = MotisSource
    gaps = MappingProxyType(
        {
            "answers_report_the_age_of_realtime": "its API does not report when trips, times or alerts were updated",
            "a_board_has_the_alerts_for_its_stop": "its boards mix a stop's alerts with those of lines and trips",
        }
    )

    def __init__(self, heard=lambda server: None):
        self._heard = heard

    def serve(self, town, served, fault=None):
        server = TownServer(town, served)
        self._heard(server)
        return serving(server.answer, fault)
