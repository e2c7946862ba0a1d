"""Networks that each break one check, so that the suite can be tested: the embedded engine with one fault."""

from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from types import MappingProxyType

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.model.itinerary import Itinerary, LegLine, LineSource
from fingerpost.transit.model.place import Coordinate
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.suite import ConformingSource


def same(value, *_):
    return value


class Bend:
    """Changes by what they change: ``profile``, ``plan_query``, ``plan``, ``board``, ...; the rest stays the same."""

    def __init__(self, **changes):
        self._changes = changes

    def __getattr__(self, name):
        return self._changes.get(name, same)


class Bent:
    def __init__(self, inner, bend):
        self._inner = inner
        self._bend = bend

    @property
    def profile(self):
        return self._bend.profile(self._inner.profile)

    async def plan_journeys(self, query):
        try:
            answer = await self._inner.plan_journeys(self._bend.plan_query(query))
        except OutsideCalendar:
            if self._bend.plan is not swallow:
                raise
            answer = await self._inner.plan_journeys(replace(query, instant=query.instant - 2 * 366 * 86_400))
        return self._bend.plan(answer, query)

    async def list_departures(self, query):
        return self._bend.board(await self._inner.list_departures(self._bend.board_query(query)), query)

    async def find_ride(self, ref, **options):
        return self._bend.ride(await self._inner.find_ride(ref, **options), ref)

    async def find_places(self, text, *, language=None, focus=None):
        return self._bend.places(await self._inner.find_places(self._bend.text(text)), text)

    async def find_stop(self, stop_id, *, language=None, whole_place=False):
        bend = self._bend.place if whole_place else self._bend.stop
        return bend(await self._inner.find_stop(stop_id, whole_place=whole_place), stop_id)

    async def list_stops_near(self, coordinate, radius_m, *, language="en"):
        return self._bend.near(await self._inner.list_stops_near(coordinate, self._bend.radius(radius_m)))

    def find_line(self, leg):
        return self._bend.line(self._inner.find_line(leg))

    async def find_realtime_health(self):
        return self._bend.health(await self._inner.find_realtime_health())


class BentSource(EmbeddedConformance):
    """The embedded engine with a bend; ``opened`` are networks that are open already, by whether they are live."""

    name = "bent"
    gaps = MappingProxyType({})

    def __init__(self, bend, opened):
        self._bend = bend
        self._opened = opened

    @asynccontextmanager
    async def open(self, town):
        yield Bent(self._opened[town.realtime is not None], self._bend)


class Fading(ConformingSource):
    name = "fading"

    def __init__(self, error, opened):
        self._error = error
        self._opened = opened

    def open(self, town):
        raise AssertionError("only with a fault")

    @asynccontextmanager
    async def open_with_fault(self, town, fault):
        def fail(*_):
            raise self._error

        yield Bent(self._opened[False], Bend(plan=fail, board=fail, places=fail, near=fail))


# ------------------------------------------------------------------------------------- how things are bent


def map_legs(change):
    def bend(answer, query):
        bent = [Itinerary(tuple(map(change, each.legs))) for each in answer.itineraries]
        return replace(answer, itineraries=tuple(bent))

    return bend


def map_rows(change):
    return lambda board, query: replace(board, departures=[change(row) for row in board.departures])


def map_provenance(**values):
    def bend(answer, *_):
        return replace(answer, provenance=replace(answer.provenance, **values))

    return Bend(plan=bend, board=bend, near=bend)


def swallow(answer, query):
    return answer


def answer_once():
    times = count()
    return lambda answer, query: replace(answer, itineraries=()) if next(times) else answer


def never_cancelled(answer, query):
    trips = [Itinerary(tuple(leg._replace(cancelled=False) for leg in each.legs)) for each in answer.timetabled]
    return replace(answer, itineraries=(*answer.itineraries, *trips), timetabled=())


def add_row(board, query):
    """List the tram that ends here, or the bus that only sets down."""
    row = board.departures[0]
    return replace(board, departures=[*board.departures, replace(row, line="X")])


def shift(**seconds):
    return lambda query: replace(query, **{name: getattr(query, name) + by for name, by in seconds.items()})


def with_profile(**values):
    return Bend(profile=lambda profile: replace(profile, **values))


def a_line(leg):
    return LegLine([(0.0, 0.0), (1.0, 1.0)], LineSource.STRAIGHT)


BENT = {
    "the_profile_describes_the_town": with_profile(zone="Europe/Stockholm"),
    "concurrent_queries_get_the_same_answer": Bend(plan=answer_once()),
    "every_answer_reports_its_provenance": map_provenance(retrieved_at=0),
    "answers_without_realtime_report_none": map_provenance(realtime_updated=1),
    "a_plan_departs_at_the_requested_time": Bend(plan_query=shift(instant=-86_400)),
    "a_plan_arrives_by_the_requested_time": Bend(plan_query=lambda query: replace(query, arrive_by=False)),
    "a_plan_respects_the_transfer_limit": Bend(plan_query=lambda query: replace(query, max_transfers=4)),
    "a_plan_respects_the_walking_limit": Bend(plan_query=lambda query: replace(query, max_walk_m=1500.0)),
    "a_ref_finds_its_ride_again": Bend(ride=map_legs(lambda leg: leg._replace(end=leg.start))),
    "legs_join_end_to_start": Bend(
        plan=map_legs(lambda leg: leg._replace(end=replace(leg.end, coordinate=Coordinate(0, 0))))
    ),
    "rides_include_line_mode_and_stops": Bend(plan=map_legs(lambda leg: leg._replace(headsign=None))),
    "a_step_free_plan_avoids_steps": Bend(plan_query=lambda query: replace(query, step_free=False)),
    "a_query_without_a_route_returns_no_trips": Bend(
        plan_query=lambda query: replace(query, destination=query.origin, origin=query.destination)
    ),
    "a_day_outside_the_calendar_is_reported": Bend(plan=swallow),
    "legs_have_lines": Bend(line=a_line),
    "a_window_includes_both_ends": Bend(board_query=shift(window_s=-1)),
    "the_last_call_is_not_a_departure": Bend(board=add_row),
    "a_call_without_boarding_is_not_a_departure": Bend(board=add_row),
    "a_truncated_board_has_the_total_count": Bend(
        board=lambda board, query: replace(board, found_count=len(board.departures))
    ),
    "an_empty_board_is_not_an_error": Bend(board=lambda board, _: replace(board, found_count=board.found_count + 1)),
    "another_day_has_a_board": Bend(board_query=shift(instant=86_400)),
    "rows_include_mode_destination_and_stop": Bend(board=map_rows(lambda row: replace(row, destination=row.line))),
    "an_exact_name_comes_first": Bend(places=lambda found, _: [each._replace(score=each.score / 2) for each in found]),
    "case_and_accents_do_not_matter": Bend(places=lambda found, text: [] if text.isupper() else found),
    "unknown_names_have_no_matches": Bend(text=lambda text: "Alpha"),
    "a_token_resolves_to_its_place": Bend(place=lambda place, stop_id: None if stop_id.islower() else place),
    "a_stop_is_found_by_its_id": Bend(stop=lambda place, _: place and replace(place, member_ids=())),
    "an_unknown_id_has_no_match": Bend(stop=lambda place, _: place or object()),
    "nearby_stops_are_sorted_by_distance": Bend(near=lambda near: replace(near, stops=near.stops[::-1])),
    "nearby_stops_include_id_and_modes": Bend(
        near=lambda near: replace(near, stops=[replace(each, modes=()) for each in near.stops])
    ),
    "a_cancelled_trip_is_not_offered": Bend(plan=never_cancelled),
    "a_cancelled_trip_stays_visible": Bend(plan=lambda answer, _: replace(answer, timetabled=())),
    "a_late_trip_reports_its_delay": Bend(plan=map_legs(lambda leg: leg._replace(departure_delay_s=None))),
    "a_board_shows_cancellations_and_delays": Bend(board=map_rows(lambda row: replace(row, cancelled=False))),
    "a_window_uses_expected_times": Bend(
        board=lambda board, query: replace(
            board, departures=[row for row in board.departures if row.scheduled >= query.instant]
        )
    ),
    "answers_report_the_age_of_realtime": map_provenance(realtime_updated=None),
    "a_timetable_shows_cancellations_and_delays": Bend(
        board=map_rows(lambda row: replace(row, departure_delay_s=None))
    ),
    "a_timetable_uses_scheduled_times": Bend(board_query=lambda query: replace(query, by_schedule=False)),
    "a_ride_has_the_alerts_for_its_line": Bend(plan=map_legs(lambda leg: leg._replace(alerts=()))),
    "a_board_has_the_alerts_for_its_stop": Bend(board=lambda board, _: replace(board, alerts=())),
    "rows_have_their_alerts": Bend(board=map_rows(lambda row: replace(row, alerts=()))),
}  # fmt: skip
