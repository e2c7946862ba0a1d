"""TfL in the conformance suite for networks: our own server answers in TfL's format."""

from types import MappingProxyType

from fingerpost.transit.model.profile import Ability
from fingerpost.transit.remote.tfl.network import TflSource
from tests.conformance.served_town import URL, ServedTown
from tests.conformance.town import ZONE
from tests.net.reply_server import ENVIRON, serving_replies
from tests.tfl_server.server import TflServer

KEY = "TOWN_KEY"
_NO_TIMETABLE = "its predictions have no scheduled times, and therefore no delays and cancellations"


class TflConformance(ServedTown):
    name = "tfl"
    new_source = TflSource
    record = MappingProxyType({"url": URL, "key": KEY, "zone": ZONE, "bounds": (60.0, 24.8, 60.3, 25.2)})
    gaps = MappingProxyType(
        {
            Ability.TIMETABLES: "it predicts only half an hour, and its timetables are for types of days, not dates",
            "a_cancelled_trip_stays_visible": "its journeys omit cancelled trips",
            "a_board_shows_cancellations_and_delays": _NO_TIMETABLE,
            "a_window_uses_expected_times": _NO_TIMETABLE,
            "a_call_without_boarding_is_not_a_departure": "its predictions include arrivals that riders cannot board",
            "a_board_has_the_alerts_for_its_stop": "it lists no departures after half an hour",
            "a_day_outside_the_calendar_is_reported": "it reports only that there is no journey on such a day",
            "answers_without_realtime_report_none": "its boards consist of realtime data",
        }
    )

    def serve(self, town, served, fault=None):
        return serving_replies(TflServer(served, town.tables, ENVIRON[KEY]).answer, fault)
