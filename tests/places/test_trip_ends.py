"""The ends of a trip in several networks: region first, tokens directly, names concurrently (rule A13)."""

import asyncio
from datetime import UTC, datetime

import pytest

from fingerpost.errors import PlaceAmbiguous, PlaceUnknown, RegionUnsupported, SourceUnreachable
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.place import Bounds, Coordinate, Location, LocationSource
from fingerpost.transit.places.resolver import PlaceResolver, TextQuery
from fingerpost.transit.places.trip_ends import resolve_journey
from fingerpost.transit.port import JourneyParameters
from fingerpost.transit.rules.warnings import WarningCode
from tests.contracts.conftest import stop_place
from tests.fakes import FakeNetwork, FakeNetworks
from tests.networks.limits import Limits, MeetingNetwork

NORTH, SOUTH = Bounds(south=60, west=20, north=70, east=30), Bounds(south=50, west=20, north=59, east=30)
A_AND_B = {"A": [stop_place("T:A", "A", lat=60.1)], "B": [stop_place("T:B", "B", lat=60.2)]}


@pytest.fixture
def resolve(tmp_path):
    def ask(origin, destination, *networks, problems=None):
        variables = VariableStore(tmp_path / "variables.sqlite")
        places = PlaceResolver(FakeNetworks(*networks, problems=problems), variables)
        ends = [
            TextQuery(text=end) if isinstance(end, str) else Location(coordinate=end, source=LocationSource.INPUT)
            for end in (origin, destination)
        ]
        resolving = resolve_journey(places, *ends, JourneyParameters(instant=0), user="ann")
        found, warnings = asyncio.run(asyncio.wait_for(resolving, 20))
        return found, {each.code: each.message for each in warnings}

    return ask


def test_two_names_over_five_networks_are_one_round_of_calls(resolve, monkeypatch):
    """Ten questions meet before any is answered: two names, five networks, one of which fails and one is slow."""
    limits, meeting = Limits(monkeypatch), asyncio.Barrier(10)
    networks = [MeetingNetwork(name=name, meeting=meeting, places=A_AND_B) for name in ("N1", "N2", "N3")]
    failing = MeetingNetwork(name="F", meeting=meeting, failure=SourceUnreachable("The source cannot be reached"))
    slow = MeetingNetwork(name="S", meeting=meeting, limits=limits)

    found, warnings = resolve("A", "B", failing, *networks, slow)

    assert [network.profile.name for network, _ in found] == ["N1", "N2", "N3"]
    assert warnings[WarningCode.NETWORK_LEFT_OUT] == (
        "F was left out: The source cannot be reached. S was left out: S did not answer within 3 s."
    )
    assert [each.calls for each in (failing, *networks, slow)] == [2, 2, 2, 2, 2]


def test_a_position_decides_the_region_of_a_name(resolve):
    north = MeetingNetwork(name="NORTH", bounds=NORTH, places=A_AND_B)
    south = MeetingNetwork(name="SOUTH", bounds=SOUTH, places=A_AND_B)
    found, _ = resolve(Coordinate(65, 25), "B", south, north)

    assert ([network.profile.name for network, _ in found], north.calls, south.calls) == (["NORTH"], 1, 0)


def test_a_token_goes_straight_to_its_network(resolve):
    """T:A belongs to one network by its FEED; the others are not queried at all."""
    owner = MeetingNetwork(name="OWNER", places=A_AND_B)
    other = MeetingNetwork(name="OTHER", places={"B": [stop_place("O:B", "B")]})
    found, _ = resolve("t:a", "B", other, owner)

    assert [(network.profile.name, query.origin.stop_ids) for network, query in found] == [("OWNER", ("T:A",))]
    assert (owner.calls, other.calls) == (1, 0)


def test_a_name_with_a_colon_is_a_name(resolve):
    named = {"Kahvila: Sirius": [stop_place("T:K", "Kahvila: Sirius", lat=60.4)], **A_AND_B}
    found, _ = resolve("Kahvila: Sirius", "B", FakeNetwork(places=named))

    assert found[0][1].origin.stop_ids == ("T:K",)


def test_an_unknown_name_lists_the_networks_that_did_not_answer(resolve):
    down = MeetingNetwork(name="DOWN", failure=SourceUnreachable("The source cannot be reached"))

    with pytest.raises(PlaceUnknown) as caught:
        resolve("Z", "B", FakeNetwork(name="UP", places=A_AND_B), down, problems={"BAD": "BAD is damaged"})

    assert caught.value.message == (
        "origin 'Z' matches no saved variable, stop or place"
        ". DOWN was left out: The source cannot be reached. BAD is damaged"
    )


def test_names_in_two_regions(resolve):
    north = FakeNetwork(name="NORTH", bounds=NORTH, places={"A": A_AND_B["A"]})
    south = FakeNetwork(name="SOUTH", bounds=SOUTH, places={"B": A_AND_B["B"]})

    with pytest.raises(RegionUnsupported) as caught:
        resolve("A", "B", north, south)

    sentence = "origin lies in NORTH and destination lies in SOUTH; no single network covers both"
    assert caught.value.message == sentence


def test_a_name_outside_the_other_ends_region(resolve):
    north = FakeNetwork(name="NORTH", bounds=NORTH)
    south = FakeNetwork(name="SOUTH", bounds=SOUTH, places={"B": [*A_AND_B["B"], stop_place("T:BB", "B B", 0.7)]})

    with pytest.raises(RegionUnsupported, match=r"^origin lies in NORTH and destination lies in SOUTH; "):
        resolve(Coordinate(65, 25), "B", north, south)


def test_a_far_place_is_a_candidate_with_its_network_and_distance(resolve):
    north = FakeNetwork(name="NORTH", bounds=NORTH)
    south = FakeNetwork(name="SOUTH", bounds=SOUTH, places={"B": [stop_place("T:B", "B", lat=55.1)]})

    with pytest.raises(PlaceAmbiguous) as caught:
        resolve(Coordinate(65, 25), "B", north, south)

    far = "B is in SOUTH, 1101 km away; no nearby place has that name"
    assert caught.value.message == f"destination 'B' has no certain match: {far}"


def test_a_network_that_cannot_be_used_is_named_between_positions_too(resolve):
    _, warnings = resolve(
        Coordinate(65, 25), Coordinate(65.1, 25), FakeNetwork(name="A"), problems={"BAD": "BAD is damaged"}
    )

    assert warnings == {WarningCode.NETWORK_LEFT_OUT: "BAD was left out: BAD is damaged."}


def test_outside_every_network_names_those_that_cannot_be_used(resolve):
    with pytest.raises(RegionUnsupported, match=r"lies in A\. BAD cannot be used: BAD is damaged$"):
        resolve(
            Coordinate(1, 25),
            Coordinate(65, 25),
            FakeNetwork(name="A", bounds=NORTH),
            problems={"BAD": "BAD is damaged"},
        )


@pytest.mark.parametrize(("problems", "more"), [({}, ""), ({"BAD": "BAD is damaged"}, ". BAD is damaged")])
def test_a_removed_saved_stop_is_named_by_its_variable(resolve, tmp_path, problems, more):
    """The variable is valid, but its stop is unknown."""
    VariableStore(tmp_path / "variables.sqlite").save(
        "ann", "work", "location", {"stopId": "T:GONE"}, datetime(2026, 3, 1, tzinfo=UTC)
    )

    with pytest.raises(PlaceUnknown) as raised:
        resolve("work", Coordinate(65, 25), FakeNetwork(name="A", places=A_AND_B), problems=problems)
    assert (raised.value.message, raised.value.hint) == (
        f"the variable 'work' refers to the stop 'T:GONE', which is not in any network{more}",
        "Look the place up with findAddressOrStop and use its lat,lon, or save it with save_user_variable",
    )
