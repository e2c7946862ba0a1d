"""Networks that break one fact each, to see that the suite notices: the embedded engine, bent in one place."""

from contextlib import asynccontextmanager
from dataclasses import fields, replace
from types import MappingProxyType, SimpleNamespace

from fingerpost.errors import OutsideCalendar
from fingerpost.testing.networks.source import ConformingSource
from fingerpost.transit.model.itinerary import Fare, Itinerary, LegLine, LineSource, Mode, ServiceAlert
from fingerpost.transit.model.place import Bounds, Coordinate
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import JourneyAnswer
from tests.conformance.embedded import EmbeddedConformance


def same(value, *_):
    return value


STALE = ServiceAlert(id="stale", header="It was over yesterday")


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

    async def find_places(self, text, *, language=None, focus=None):
        return self._bend.places(await self._inner.find_places(self._bend.text(text)), text)

    async def find_stop(self, stop_id, *, language=None):
        return self._bend.stop(await self._inner.find_stop(stop_id), stop_id)

    async def find_stop_place(self, stop_id, *, language=None):
        return self._bend.place(await self._inner.find_stop_place(stop_id), stop_id)

    async def list_stops_near(self, coordinate, radius_m, *, language="en"):
        return self._bend.near(await self._inner.list_stops_near(coordinate, self._bend.radius(radius_m)))

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
        raise AssertionError("only in trouble")

    @asynccontextmanager
    async def open_in_trouble(self, town, trouble):
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


def thaw(answer, query):
    return SimpleNamespace(**{each.name: getattr(answer, each.name) for each in fields(JourneyAnswer)})


class Forgetful:
    def __init__(self):
        self._times = 0

    def __call__(self, answer, query):
        self._times += 1
        return answer if self._times == 1 else replace(answer, itineraries=())


def never_cancelled(answer, query):
    legs = [
        Itinerary(tuple(replace(leg, cancelled=False) for leg in each.legs)) for each in answer.timetabled
    ]  # fmt: skip
    return replace(answer, itineraries=(*answer.itineraries, *legs), timetabled=())


def add_row(board, query):
    """List the tram that ends here, or the bus that only sets down."""
    row = board.departures[0]
    return replace(board, departures=[*board.departures, replace(row, line="X")])


def shift(**seconds):
    return lambda query: replace(query, **{name: getattr(query, name) + by for name, by in seconds.items()})


def with_profile(**values):
    return Bend(profile=lambda profile: replace(profile, **values))


def without(*abilities):
    return lambda profile: replace(profile, abilities=profile.abilities - set(abilities))


def a_line(leg):
    return LegLine([(0.0, 0.0), (1.0, 1.0)], LineSource.STRAIGHT)


ELSEWHERE = Bounds(south=0, west=0, north=1, east=1)

BENT = {
    "it_is_called_what_its_record_says": with_profile(name="town"),
    "its_zone_is_the_towns": with_profile(zone="Europe/Stockholm"),
    "its_bounds_hold_every_stop": with_profile(bounds=ELSEWHERE),
    "its_feeds_are_named": with_profile(feed_names=frozenset({"OTHER"})),
    "its_modes_are_those_that_run": with_profile(modes=frozenset({Mode.BUS})),
    "its_profile_is_data": Bend(profile=lambda profile: replace(profile, abilities=set(profile.abilities))),
    "what_it_cannot_do_is_in_no_answer": Bend(profile=without(Ability.FARES)),
    "its_answers_cannot_be_changed": Bend(plan=thaw),
    "many_may_ask_at_once": Bend(plan=Forgetful()),
    "every_answer_says_who_gave_it_and_when": map_provenance(retrieved_at=0),
    "every_answer_names_its_feeds": map_provenance(feeds=()),
    "every_answer_carries_the_attribution": map_provenance(attribution=()),
    "nothing_is_lost_where_nothing_stood_in": map_provenance(lost=("fares",)),
    "without_real_time_none_is_told": map_provenance(realtime_updated=1),
    "a_plan_departs_when_asked": Bend(plan_query=shift(instant=-86_400)),
    "a_plan_may_leave_at_the_very_second": Bend(plan_query=shift(instant=1)),
    "a_plan_arrives_when_asked": Bend(plan_query=lambda query: replace(query, arrive_by=False)),
    "a_plan_may_arrive_no_second_late": Bend(plan_query=shift(instant=60)),
    "a_plan_keeps_the_limit_of_transfers": Bend(plan_query=lambda query: replace(query, max_transfers=4)),
    "a_plan_keeps_the_limit_of_walking": Bend(plan_query=lambda query: replace(query, max_walk_m=1500.0)),
    "legs_join_end_to_start": Bend(
        plan=map_legs(lambda leg: replace(leg, end=replace(leg.end, coordinate=Coordinate(0, 0))))
    ),
    "rides_say_their_line_mode_and_stops": Bend(plan=map_legs(lambda leg: replace(leg, headsign=None))),
    "a_step_free_plan_takes_no_step": Bend(plan_query=lambda query: replace(query, step_free=False)),
    "no_way_is_an_empty_answer": Bend(
        plan_query=lambda query: replace(query, destination=query.origin, origin=query.destination)
    ),
    "a_day_outside_the_calendar_is_told": Bend(plan=swallow),
    "itineraries_are_priced": Bend(
        plan=lambda answer, _: replace(answer, price=lambda _: Fare(amount="3.0", currency="EUR"))
    ),
    "legs_have_lines": Bend(plan=lambda answer, _: replace(answer, draw=a_line)),
    "a_board_lists_what_leaves": Bend(board=lambda board, _: replace(board, departures=board.departures[1:])),
    "a_window_holds_both_its_ends": Bend(board_query=shift(window_s=-1)),
    "the_last_call_is_no_departure": Bend(board=add_row),
    "a_call_without_boarding_is_no_departure": Bend(board=add_row),
    "a_short_board_counts_the_rest": Bend(board=lambda board, query: replace(board, found_count=len(board.departures))),
    "an_empty_board_is_an_answer": Bend(board=lambda board, _: replace(board, found_count=board.found_count + 1)),
    "another_day_has_a_board_too": Bend(board_query=shift(instant=86_400)),
    "rows_say_mode_destination_and_stop": Bend(board=map_rows(lambda row: replace(row, destination=row.line))),
    "an_exact_name_comes_first": Bend(places=lambda found, _: [replace(each, score=each.score / 2) for each in found]),
    "case_and_accents_do_not_matter": Bend(places=lambda found, text: [] if text.isupper() else found),
    "what_resembles_nothing_finds_nothing": Bend(text=lambda text: "Alpha"),
    "scores_fall_from_best_to_worst": Bend(places=lambda found, _: [replace(each, score=7.0) for each in found]),
    "a_token_leads_back": Bend(place=lambda place, stop_id: None if stop_id.islower() else place),
    "a_stop_is_found_by_its_id": Bend(stop=lambda place, _: place and replace(place, member_ids=())),
    "an_unknown_id_finds_nothing": Bend(stop=lambda place, _: place or object()),
    "stops_near_a_point_come_nearest_first": Bend(near=lambda near: replace(near, stops=near.stops[::-1])),
    "a_radius_is_a_bound": Bend(radius=lambda metres: metres + 100),
    "a_stop_near_says_its_id_and_modes": Bend(
        near=lambda near: replace(near, stops=[replace(each, modes=()) for each in near.stops])
    ),
    "a_cancelled_trip_is_not_ridden": Bend(plan=never_cancelled),
    "a_cancelled_trip_stays_visible": Bend(plan=lambda answer, _: replace(answer, timetabled=())),
    "a_late_trip_is_told_with_its_delay": Bend(plan=map_legs(lambda leg: replace(leg, departure_delay_s=None))),
    "a_board_tells_what_is_cancelled_and_late": Bend(board=map_rows(lambda row: replace(row, cancelled=False))),
    "a_window_goes_by_the_expected_time": Bend(
        board=lambda board, query: replace(
            board, departures=[row for row in board.departures if row.scheduled >= query.instant]
        )
    ),
    "the_age_of_real_time_travels_with_the_answer": map_provenance(realtime_updated=None),
    "a_timetable_tells_what_is_cancelled_and_late": Bend(
        board=map_rows(lambda row: replace(row, departure_delay_s=None))
    ),
    "a_timetable_goes_by_the_scheduled_time": Bend(board_query=lambda query: replace(query, by_schedule=False)),
    "an_alert_of_a_line_is_told_with_its_ride": Bend(plan=map_legs(lambda leg: replace(leg, alerts=()))),
    "an_alert_that_is_over_is_not_told": Bend(plan=map_legs(lambda leg: replace(leg, alerts=(STALE,)))),
    "a_board_tells_the_alerts_of_its_stop": Bend(board=lambda board, _: replace(board, alerts=())),
    "a_board_tells_the_alerts_of_its_rows": Bend(board=map_rows(lambda row: replace(row, alerts=()))),
}  # fmt: skip
