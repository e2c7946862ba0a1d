"""Places by text and by id, their names, and platform letters (rules B10 and D2)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.rules.name_matching import find_certain
from fingerpost.transit.rules.place_index import PlaceIndex, split_stop_name
from tests.rules.drawing import stop_at


def found(index: PlaceIndex, text: str, **more) -> list[tuple[str | None, tuple[str, ...]]]:
    return [(match.place.id, match.place.member_ids) for match in index.search(text, **more)]


@pytest.mark.parametrize(("apart_m", "places"), [(299, 1), (301, 2)])
@pytest.mark.parametrize(
    ("names", "shared", "own"),
    [(("Töölö", "TÖÖLÖ"), {"töölö"}, {"töölö"}), (("Tori A", "Tori B"), {"tori"}, {"tori a", "tori b"})],
)
def test_namesakes_and_platforms_within_300_m_are_one_place(names, shared, own, apart_m, places):
    index = PlaceIndex([stop_at("T:1", names[0]), stop_at("T:2", names[1], apart_m)])
    listed = index.list_places()

    assert len({place.id for place in listed}) == places
    assert {place.name.casefold() for place in listed} == (shared if places == 1 else own)


STATION = stop_at("T:S", "Pasila", 50, is_station=True)
PLATFORMS = [stop_at("T:1", "Pasila", 0, parent_id="T:S"), stop_at("T:2", "Pasila", 100, parent_id="T:S")]


def test_a_shared_parent_is_the_place():
    index = PlaceIndex([*PLATFORMS, STATION])

    (place,) = [match.place for match in index.search("pasila")]

    assert (place.id, place.coordinate, place.member_ids) == ("T:S", STATION.coordinate, ("T:1", "T:2"))


def test_a_station_is_found_by_the_names_of_its_stops():
    index = PlaceIndex([STATION, *PLATFORMS, stop_at("T:3", "Itäpiha", 90, parent_id="T:S")])

    (match,) = index.search("itapiha")
    place = match.place

    assert (place.id, place.name, place.member_ids, match.score) == ("T:S", "Pasila", ("T:1", "T:2", "T:3"), 1.0)


@pytest.mark.parametrize(
    ("stops", "text", "expected"),
    [
        # Linked by hops within 300 m; the id is that of the stop nearest to the centre.
        (
            [stop_at("T:1", "Tori"), stop_at("T:3", "Tori", 500), stop_at("T:2", "Tori", 260)],
            "tori",
            ("T:2", ("T:1", "T:2", "T:3")),
        ),
        # One namesake outside the station: the place is named by a stop and covers all of them.
        ([STATION, *PLATFORMS, stop_at("T:9", "Pasila", 200)], "pasila", ("T:2", ("T:1", "T:2", "T:9"))),
        # The parent of a parent is the station; a parent that is not there is none.
        (
            [STATION, *PLATFORMS, stop_at("T:1a", "Pasila", 5, parent_id="T:1")],
            "pasila",
            ("T:S", ("T:1", "T:1a", "T:2")),
        ),
        ([stop_at("T:5", "Orpo", parent_id="T:GONE")], "orpo", ("T:5", ("T:5",))),
    ],
)
def test_which_stops_are_one_place(stops, text, expected):
    assert found(PlaceIndex(stops), text) == [expected]


def test_stops_without_a_name():
    index = PlaceIndex([stop_at("T:1", ""), stop_at("T:2", "-", 10)])

    place = index.find_place_of("t:2")

    assert (index.search("-"), place and place.member_ids) == ([], ("T:2",))


TRANSLATED = stop_at("T:1", "Rautatientori", names={"fi": "Rautatientori", "sv": "Järnvägstorget"}, locality="Helsinki")


@pytest.mark.parametrize(
    ("text", "language", "name", "chosen"),
    [
        ("jarnvagstorget", "sv", "Järnvägstorget", "sv"),
        ("jarnvagstorget", "en", "Rautatientori", "fi"),
        ("Rautatientori", "sv", "Järnvägstorget", "sv"),
        ("rautatientori, helsinki", None, "Rautatientori", "fi"),
    ],
)
def test_names_in_all_languages(text, language, name, chosen):
    (match,) = PlaceIndex([TRANSLATED]).search(text, language)

    assert (match.place.name, match.place.language, match.score) == (name, chosen, 1.0)


def test_focus_orders_namesakes_and_changes_no_id():
    index = PlaceIndex([stop_at("T:1", "Asematie"), stop_at("T:2", "Asematie", 5000)])

    matches = index.search("asematie", focus=Coordinate(60.05, 25))

    assert [(match.place.id, round(match.distance_m or 0, -2)) for match in matches] == [("T:2", 600), ("T:1", 5600)]


INDEX = PlaceIndex([STATION, *PLATFORMS, stop_at("T:8", "Tori", 900), stop_at("T:9", "Tori", 950)])


@pytest.mark.parametrize(
    ("stop_id", "place", "stop"),
    [
        ("T:S", ("T:S", ("T:1", "T:2")), ("T:S", ("T:1", "T:2"))),
        ("t:s", ("T:S", ("T:1", "T:2")), ("T:S", ("T:1", "T:2"))),
        ("T:1", ("T:S", ("T:1", "T:2")), ("T:1", ("T:1",))),
        ("T:8", ("T:8", ("T:8", "T:9")), ("T:8", ("T:8",))),
        ("T:9", ("T:8", ("T:8", "T:9")), ("T:9", ("T:9",))),
        ("T:7", None, None),
        ("", None, None),
    ],
)
def test_a_token_means_its_place_and_an_id_its_stop(stop_id, place, stop):
    whole, exact = INDEX.find_place_of(stop_id), INDEX.find_stop(stop_id)

    assert (whole and (whole.id, whole.member_ids), exact and (exact.id, exact.member_ids)) == (place, stop)


def test_ids_that_differ_in_case_only():
    index = PlaceIndex([stop_at("T:a", "Pieni"), stop_at("T:A", "Suuri", 900)])

    actual = [stop and stop.name for stop in map(index.find, ("T:a", "T:A", "t:A"))]

    assert actual == ["Pieni", "Suuri", "Pieni"]


STOPS = st.lists(
    st.tuples(
        st.sampled_from(["Kamppi", "kämppi", "Asema", "Asema 1", "Asema B", "asema C", ""]),
        st.integers(0, 12),
        st.booleans(),
    ),
    max_size=10,
).map(
    lambda rows: [
        *(
            stop_at(f"T:{row}", name, 90 * north, parent_id="T:S" if inside else None)
            for row, (name, north, inside) in enumerate(rows)
        ),
        stop_at("T:S", "Asema", 300, is_station=True),
    ]
)


@settings(deadline=None)
@given(STOPS, st.randoms())
def test_every_token_is_found_again(stops, chance):
    shuffled = chance.sample(stops, len(stops))
    index = PlaceIndex(stops)
    matches = [match for text in ("kamppi", "asema", "asema 1") for match in index.search(text)]

    assert [index.find_place_of(match.place.token.lower()) for match in matches] == [match.place for match in matches]
    assert [found(index, text) for text in ("kamppi", "asema")] == [
        found(PlaceIndex(shuffled), text) for text in ("kamppi", "asema")
    ]


@settings(deadline=None)
@given(STOPS)
def test_every_named_stop_is_in_one_place_of_its_name(stops):
    index = PlaceIndex(stops)

    missing = [
        stop.id
        for stop in stops
        if stop.name and not stop.is_station
        if not any(stop.id in members for _, members in found(index, stop.name))
    ]

    assert missing == []


@settings(deadline=None)
@given(STOPS, st.text(max_size=30))
def test_no_text_breaks_the_index(stops, text):
    matches = PlaceIndex(stops).search(text)

    assert find_certain(matches) in [None, *matches]


@pytest.mark.parametrize(
    ("name", "place", "platform"),
    [
        ("Keskustori C", "Keskustori", "C"),
        ("Keskustori (platform C)", "Keskustori", "C"),
        ("Kamppi, platform 2", "Kamppi", "2"),
        ("Kamppi laituri 12", "Kamppi", "12"),
        ("Central Station Bay C", "Central Station", "C"),
        # A sign, a house, a terminal, a corner and a word are no platforms.
        ("Kalasatama (M)", "Kalasatama (M)", ""),
        ("Satamakatu 18", "Satamakatu 18", ""),
        ("Terminal 2", "Terminal 2", ""),
        ("Terminal B", "Terminal B", ""),
        ("OCEAN AV/AVENUE X", "OCEAN AV/AVENUE X", ""),
        ("Pohjoinen th", "Pohjoinen th", ""),
        ("Platform 2", "Platform 2", ""),
        ("Keskustori c", "Keskustori c", ""),
        ("", "", ""),
    ],
)
def test_a_name_is_a_place_and_a_pole(name, place, platform):
    assert split_stop_name(name)[:2] == (place, platform)


TORI = [stop_at("T:A", "Tori A"), stop_at("T:B", "Tori B", 90), stop_at("T:C", "Tori C", 180)]


@pytest.mark.parametrize(
    ("stops", "text", "name", "place_id", "members"),
    [
        (TORI, "tori", "Tori", "T:B", ("T:A", "T:B", "T:C")),
        # The exact name of one platform means that platform, also of the one whose id the place has.
        (TORI, "Tori B", "Tori B", "T:B", ("T:B",)),
        (TORI, "tori laituri c", "Tori C", "T:C", ("T:C",)),
        # A stop without a letter belongs to the platforms near it.
        ([stop_at("T:0", "Tori", 40), *TORI[:1]], "tori", "Tori", "T:0", ("T:0", "T:A")),
    ],
)
def test_lettered_poles_are_one_place(stops, text, name, place_id, members):
    [match] = PlaceIndex(stops).search(text)
    assert (match.place.name, match.place.id, match.place.member_ids) == (name, place_id, members)
    assert match.score == 1.0


def test_corners_that_differ_by_a_letter_stay_apart():
    """D2: two stops at the corner of Parade A and two at that of Parade B: the letters tell places apart."""
    corners = [stop_at(f"T:{letter}{side}", f"Parade {letter}", metres + 20 * side)
               for letter, metres in (("A", 0), ("B", 150)) for side in (0, 1)]  # fmt: skip
    assert [place.member_ids for place in PlaceIndex(corners).list_places()] == [("T:A0", "T:A1"), ("T:B0", "T:B1")]


@pytest.mark.parametrize(
    ("stops", "stands_at", "zero_walk_ids"),
    [
        # At its nearest stop, and the others cost a walk.
        (TORI, TORI[1], ("T:B",)),
        # A mixed place at its station, whose platforms cost no walk; the stop in the street does.
        ([STATION, *PLATFORMS, stop_at("T:9", "Pasila", 200)], STATION, ("T:1", "T:2")),
        # Nobody boards at a station without platforms, so the nearest stop is where the place stands.
        ([stop_at("T:S", "Asema", 200, is_station=True), stop_at("T:1", "Asema")], stop_at("T:1", "Asema"), ("T:1",)),
    ],
)
def test_places_have_positions_and_stops_without_a_walk(stops, stands_at, zero_walk_ids):
    """D2: no platform outside a station is reached for nothing."""
    (place,) = PlaceIndex(stops).list_places()
    assert (place.coordinate, place.zero_walk_ids) == (stands_at.coordinate, zero_walk_ids)


def test_platforms_are_distinguished_only_where_they_are_platforms():
    index = PlaceIndex([*TORI, stop_at("T:X", "Malcolm X", 5000)])
    assert [index.find_platform_code(stop_id) for stop_id in ("T:A", "T:X")] == ["A", None]


def test_stops_that_bear_a_stations_name_are_one_place_with_it():
    """D2: trains stop at Kylä, whose station is Kylän asema; buses stop at Kylän asema: one place, one token."""
    station = stop_at("T:S", "Kylän asema", 0, is_station=True)
    train = stop_at("T:1", "Kylä", 10, parent_id="T:S")
    index = PlaceIndex([station, train, stop_at("T:9", "Kylän asema", 120)])
    places = [match.place for match in (index.search("kylä")[0], *index.search("kylän asema"))]
    assert [(place.name, place.id, place.member_ids) for place in places] == 2 * [
        ("Kylän asema", "T:S", ("T:1", "T:9"))
    ]
    assert {index.find_place_of(stop_id).id for stop_id in ("T:S", "T:1", "T:9")} == {"T:S"}
    assert index.find_stop("T:S").member_ids == ("T:1",)
