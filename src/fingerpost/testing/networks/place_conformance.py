"""Conformance checks for a network's look-ups: by name, by stop id and around a point."""

from fingerpost.testing.networks.checking import TownNetwork, expect, expect_same
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Coordinate, PlaceKind

# Near Alpha; the next stop, Beta, is 1.6 km away.
NEAR_ALPHA = Coordinate(60.1700, 24.9410)


async def an_exact_name_comes_first(case: TownNetwork) -> None:
    matches = await case.network.find_places("Gamma")
    first = [(match.place.name, match.place.kind, match.score >= 0.8) for match in matches[:1]]
    expect_same(first, [("Gamma", PlaceKind.STOP, True)], "the first candidate for Gamma")
    scores = [match.score for match in matches]
    expect(scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores), "scores", scores)


async def case_and_accents_do_not_matter(case: TownNetwork) -> None:
    names = [match.place.name for match in (await case.network.find_places("ALVSJO"))[:1]]
    expect_same(names, ["Älvsjö"], "the first candidate for ALVSJO")


async def unknown_names_find_nothing(case: TownNetwork) -> None:
    found = [
        (match.place.name, match.score) for match in await case.network.find_places("qqxxzz") if match.score >= 0.8
    ]
    expect_same(found, [], "candidates for qqxxzz")


async def a_token_resolves_to_its_place(case: TownNetwork) -> None:
    for match in (await case.network.find_places("Beta"))[:1]:
        for token in (match.place.token, match.place.token.lower()):
            place = await case.network.find_stop_place(token)
            observed = None if place is None else (place.name, place.coordinate)
            expect_same(observed, (match.place.name, match.place.coordinate), f"the place for the token {token}")
        return
    expect(False, "no candidate for Beta")


async def a_stop_is_found_by_its_id(case: TownNetwork) -> None:
    printed = case.town.stop_id("Delta")
    for stop_id in (printed, printed.lower()):
        place = await case.network.find_stop(stop_id)
        observed = None if place is None else (place.id, place.name, place.coordinate, place.member_ids)
        wanted = (printed, "Delta", case.town.coordinate("Delta"), (printed,))
        expect_same(observed, wanted, f"the stop {stop_id}")


async def an_unknown_id_finds_nothing(case: TownNetwork) -> None:
    stop_id = f"{case.town.name}:NOWHERE"
    found = await case.network.find_stop(stop_id), await case.network.find_stop_place(stop_id)
    expect_same(found, (None, None), "the results for an unknown id")


async def stops_near_a_point_come_nearest_first(case: TownNetwork) -> None:
    near = (await case.network.list_stops_near(NEAR_ALPHA, 2000.0)).stops
    expect_same([stop.stop.name for stop in near], ["Alpha", "Beta"], "stops within 2 km")
    distances = [stop.distance_m for stop in near]
    expect(abs(distances[0] - 55) < 10 and abs(distances[1] - 1605) < 30, "distances of Alpha and Beta", distances)


async def nearby_stops_state_id_and_modes(case: TownNetwork) -> None:
    near, none = [(await case.network.list_stops_near(NEAR_ALPHA, radius_m)).stops for radius_m in (100.0, 10.0)]
    observed = [(stop.stop.id, frozenset(stop.modes)) for stop in near]
    wanted = [(case.town.stop_id("Alpha"), frozenset({Mode.BUS, Mode.TRAM}))]
    expect_same((observed, len(none)), (wanted, 0), "stops within 100 m, and how many within 10 m")
