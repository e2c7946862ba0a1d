"""TfL, as the conformance suite for networks meets it: a server of our own answers in its shapes."""

from contextlib import asynccontextmanager
from types import MappingProxyType

from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.networks.source import ConformingSource, Never, NotYetOurs, NotYetTheirs
from fingerpost.testing.networks.town import ZONE
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.remote.tfl.network import TflSource
from tests.conformance.embedded import EmbeddedConformance
from tests.tfl_server.server import TflServer, serving
from tests.throwaway.conformance import ENVIRON, new_client

URL = "http://town.example"
KEY = "TOWN_KEY"
# Large enough for a machine that is busy.
LIMITS = RequestLimits(read_s=60.0, total_s=60.0, attempts=1)
_SHORT = RequestLimits(read_s=0.05, total_s=8.0, attempts=1)
_NO_TIMETABLE = NotYetTheirs("its predictions name no scheduled time: no delays and no cancellations")


class TflConformance(ConformingSource):
    """The town behind TfL's addresses."""

    name = "tfl"
    gaps = MappingProxyType(
        {
            Ability.FARES: NotYetOurs("many journeys have no fare, and those that have it mean one kind of ticket"),
            "a_cancelled_trip_stays_visible": NotYetTheirs("its journeys tell of no trip that does not run"),
            "a_board_tells_what_is_cancelled_and_late": _NO_TIMETABLE,
            "a_window_goes_by_the_expected_time": _NO_TIMETABLE,
            "a_timetable_tells_what_is_cancelled_and_late": NotYetTheirs("its timetables know no real time"),
            "a_call_without_boarding_is_no_departure": NotYetTheirs("a prediction is an arrival, boarded or not"),
            "a_day_outside_the_calendar_is_told": NotYetTheirs("it says of such a day that there is no journey"),
            "without_real_time_none_is_told": Never("a board of predictions is nothing but real time"),
        }
    )

    @asynccontextmanager
    async def open(self, town):
        record = new_record(town)
        async with (
            EmbeddedConformance().open(town) as served,
            serving(TflServer(served, town.tables, ENVIRON[KEY]).answer) as port,
            new_client(port) as client,
        ):
            source = TflSource(client.fetch, LIMITS)
            yield source.open(record, await source.learn(record))

    @asynccontextmanager
    async def open_in_trouble(self, town, trouble):
        record = new_record(town)
        async with EmbeddedConformance().open(town) as served:
            reply = TflServer(served, town.tables).answer
            async with serving(reply) as port, new_client(port) as client:
                learned = await TflSource(client.fetch, LIMITS).learn(record)
            async with serving(reply, trouble) as port, new_client(port) as client:
                yield TflSource(client.fetch, _SHORT).open(record, learned)


def new_record(town):
    """Return the record of the town: what is known of London without asking is stated anew."""
    return NetworkRecord(name=town.name, source="tfl", url=URL, key=KEY, zone=ZONE, bounds=(60.0, 24.8, 60.3, 25.2))
