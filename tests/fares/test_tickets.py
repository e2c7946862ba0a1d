"""Ticket fares (GTFS Fares v1): tables, amounts, the reference's examples ("FareExamples" 1 to 7), and an oracle."""

from decimal import Decimal
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.fares.book import (
    FareBook,
    FareUnknown,
    Ticket,
    TicketRule,
    format_amount,
    parse_amount,
    parse_currency,
)
from fingerpost.transit.fares.prices import price_by_tickets
from tests.fares.drawing import ride
from tests.gtfs.importing import findings_of, import_text


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [
        ("2.8", "EUR", "2.80"),
        ("2.800000", "EUR", "2.80"),
        ("210", "JPY", "210"),
        ("210.0", "JPY", "210"),
        ("1.5", "KWD", "1.500"),
        ("2.805", "EUR", "2.805"),
        ("0", "USD", "0.00"),
        ("100", "USD", "100.00"),
    ],
)
def test_digits(amount, currency, written):
    """An amount has its currency's digits (ISO 4217), more where the feed needs them; nothing is rounded."""
    assert format_amount(Decimal(amount), currency) == written


@pytest.mark.parametrize("text", ["", "free", "1e3", "2,80", "NaN", "1.", ".5", "\u0663.\u0665"])
def test_an_amount_is_digits_and_a_point(text):
    assert parse_amount(text) is None


@pytest.mark.parametrize(
    ("text", "code"), [("EUR", "EUR"), ("eur", "EUR"), ("EURO", None), ("", None), ("€", None), ("\u017fek", None)]
)
def test_a_currency_is_a_code_of_three_letters(text, code):
    assert parse_currency(text) == code


HEAD = "fare_id,price,currency_type,payment_method,transfers,transfer_duration,agency_id\n"


def read(tmp_path, tickets, rules=""):
    tables = {"fare_attributes.txt": HEAD + tickets}
    if rules:
        tables["fare_rules.txt"] = f"fare_id,route_id,origin_id,destination_id,contains_id\n{rules}"
    imported = import_text(tmp_path, tables)
    text = imported.timetable.feed_fares[0]
    return FareBook.from_json(text) if text else None, findings_of(imported)


def test_empty_fields_of_a_ticket_set_no_limit(tmp_path):
    book, findings = read(tmp_path, "t,2.80,EUR,0,,,\nu,1,EUR,0,0,4800,HSL\n")

    assert findings == []
    assert book.tickets == (
        Ticket(fare_id="t", price="2.80", currency="EUR", transfers=None, transfer_duration_s=None),
        Ticket(fare_id="u", price="1", currency="EUR", transfers=0, transfer_duration_s=4800, agency_id="HSL"),
    )


def test_rows_that_differ_in_the_contained_zone_only_are_one_rule(tmp_path):
    book, _ = read(tmp_path, "t,2.80,EUR,0,,,\n", "t,A,,,a\nt,A,,,b\nt,,x,y,\n")

    assert book.ticket_rules == (
        TicketRule(fare_id="t", route_id="A", contains_ids=("a", "b")),
        TicketRule(fare_id="t", origin_id="x", destination_id="y"),
    )


def test_rules_of_no_fare_make_no_ticket_universal(tmp_path):
    book, findings = read(tmp_path, "t,2.80,EUR,0,,,\n", "T,A,,,\n")

    assert (book.problem, len(findings)) == ("no rule in fare_rules.txt applies to a known fare", 1)


def test_faulty_tickets_and_rules_are_counted(tmp_path):
    book, findings = read(
        tmp_path,
        "t,2.80,EUR,0,,,\nu,free,EUR,0,,,\nt,9,EUR,0,,,\nw,1,EUR,0,7,,\nx,1,EUR,0,,,\n",
        "t,,,,\nu,,,,\nw,,,,\nNO,,,,\n",
    )

    assert [ticket.price for ticket in book.tickets] == ["2.80", "", "", "1"]
    assert findings == [
        ("id-repeated", 1, "fare_attributes.txt", 4),
        ("fare-unreadable-unapplied", 2, "fare_attributes.txt", 3),
        ("fare-rule-of-unknown-fare", 1, "fare_rules.txt", 5),
        ("fare-without-rule-unapplied", 1, "fare_attributes.txt", 6),
    ]


def test_an_empty_table_has_no_fares(tmp_path):
    assert read(tmp_path, "") == (None, [])


def test_faults_of_stops_read_again_for_their_zones_are_counted_once(tmp_path):
    rows = "ALPHA,A,60.17,24.94,a\nBETA,B,60.17,24.95,b\nGAMMA,G,60.17,24.96,,beyond\n"
    stops = f"stop_id,stop_name,stop_lat,stop_lon,zone_id\n{rows}"
    tables = {
        "fare_attributes.txt": HEAD + "t,1,EUR,0,,,\n",
        "fare_rules.txt": "fare_id,origin_id\nt,a\n",
        "stops.txt": stops,
    }
    imported = import_text(tmp_path, tables)

    assert FareBook.from_json(imported.timetable.feed_fares[0]).zone_of == {"ALPHA": "a", "BETA": "b"}
    assert findings_of(imported) == [("row-longer-than-header-assumed", 1, "stops.txt", 4)]


def ticket(fare_id, price, transfers=None, duration_s=None, currency="USD", agency=""):
    return Ticket(
        fare_id=fare_id,
        price=price,
        currency=currency,
        transfers=transfers,
        transfer_duration_s=duration_s,
        agency_id=agency,
    )


def book(tickets, rows=(), zones=""):
    """Draw a book; ``zones`` is "stop zone stop zone"."""
    words = zones.split()
    rules = tuple(
        TicketRule(
            fare_id=fare, route_id=route, origin_id=begin, destination_id=end, contains_ids=tuple(within.split())
        )
        for fare, route, begin, end, within in rows
    )
    return FareBook(tickets=tuple(tickets), ticket_rules=rules, zone_of=dict(zip(words[::2], words[1::2], strict=True)))


def cost(fares, *rides):
    price = price_by_tickets(fares, rides)
    return str(price.amount), " ".join(price.tickets)


BUS, TRAM = ride("1", "A B", 0, 10), ride("2", "B C", 20, 30)


LOCAL_AND_EXPRESS = book(
    [ticket("local", "1.75", 0), ticket("express", "5.00", 0)],
    [("local", "1", "", "", ""), ("express", "2", "", "", ""), ("express", "3", "", "", "")],
)
ONE_OR_PLUS = book([ticket("one", "1.75", 0), ticket("plus", "2.00", None, 5400)])
# Each station is a zone; only the first and the last count.
STATIONS = book(
    [ticket("ab", "1.75"), ticket("ac", "3.25")], [("ab", "", "a", "b", ""), ("ac", "", "a", "c", "")], "A a B b C c"
)


@pytest.mark.parametrize(
    ("fares", "rides", "paid"),
    [
        pytest.param(book([ticket("t", "1.00")]), [BUS, TRAM], ("1.00", "t"), id="1, transfers"),
        pytest.param(book([ticket("t", "1.00", transfers=0)]), [BUS, TRAM], ("2.00", "t t"), id="2, no transfers"),
        # From the first departure to the last arrival, its last second included.
        pytest.param(book([ticket("t", "1.00", duration_s=1800)]), [BUS, TRAM], ("1.00", "t"), id="3, in time"),
        pytest.param(book([ticket("t", "1.00", duration_s=1799)]), [BUS, TRAM], ("2.00", "t t"), id="3, too late"),
        pytest.param(LOCAL_AND_EXPRESS, [BUS, TRAM], ("6.75", "local express"), id="4, fares of routes"),
        pytest.param(ONE_OR_PLUS, [BUS], ("1.75", "one"), id="5, the cheapest"),
        pytest.param(ONE_OR_PLUS, [BUS, TRAM], ("2.00", "plus"), id="5, a transfer is bought"),
        pytest.param(STATIONS, [BUS, TRAM], ("3.25", "ac"), id="6, pairs of stations"),
        # Without transfers the duration is the ticket's own: a ride of ten minutes takes six hundred seconds.
        pytest.param(book([ticket("t", "1", 0, 600)]), [BUS], ("1", "t"), id="a ticket for one ride"),
        pytest.param(
            book([ticket("x", "1", agency="X"), ticket("y", "5", agency="Y")]),
            [ride("1", "A B", agency="X"), ride("2", "B C", 20, 30, agency="Y")],
            ("6", "x y"),
            id="fares of agencies",
        ),
    ],
)
def test_examples_1_to_6_of_the_reference_and_others(fares, rides, paid):
    assert cost(fares, *rides) == paid


ZONES = "S1 1 S2 2 S3 3"
CONCENTRIC = [("F1", "1 2 3", "4.15"), ("F2", "1 2", "2.20"), ("F4", "2 3", "2.95"), ("F6", "2", "1.95")]


@pytest.mark.parametrize(
    ("stops", "paid"), [("S2 S3", "2.95"), ("S2 S2", "1.95"), ("S1 S2 S3", "4.15"), ("S1 S3 S2", "4.15")]
)
def test_example_7_zones_passed_through(stops, paid):
    fares = book(
        [ticket(fare, price) for fare, _, price in CONCENTRIC],
        [(fare, "", "", "", zones) for fare, zones, _ in CONCENTRIC],
        ZONES,
    )

    assert cost(fares, ride("1", stops))[0] == paid


@pytest.mark.parametrize("currency", ["", "USD", "EUR"])
def test_a_price_that_cannot_be_read_could_be_the_least(currency):
    fares = book(
        [ticket("a", "2.00", 0), ticket("b", "2.00", 0), ticket("c", "", 0, currency=currency)],
        [("a", "1", "", "", ""), ("b", "2", "", "", ""), ("c", "2", "", "", "")],
    )
    with pytest.raises(FareUnknown, match="the price of fare c is invalid"):
        cost(fares, BUS, TRAM)

    assert cost(fares, BUS) == ("2.00", "a")


@pytest.mark.parametrize(
    ("fares", "stops", "why"),
    [
        (book([ticket("t", ""), ticket("u", "9")]), "A B", "the price of fare t is invalid"),
        (book([ticket("t", "1"), ticket("u", "9", currency="EUR")]), "A B", "several currencies"),
        (book([ticket("t", "1", 0, 599)]), "A B", "no fare applies to line 1"),
        # Beside fares with rules, one without is not known to be for anything.
        (book([ticket("t", "1"), ticket("u", "2")], [("u", "2", "", "", "")]), "A B", "no fare applies to line 1"),
        # A fare for zones 1 and 2 is no fare for zone 1 alone.
        (book([ticket("F2", "2.20")], [("F2", "", "", "", "1 2")], ZONES), "S1 S1", r"line 1 \(zones passed: 1\)"),
    ],
)
def test_no_figure_is_guessed(fares, stops, why):
    with pytest.raises(FareUnknown, match=why):
        price_by_tickets(fares, [ride("1", stops)])


TICKETS = st.lists(
    st.builds(
        lambda price, transfers, minutes, routes: (str(price), transfers, minutes and minutes * 60, routes),
        st.integers(1, 9),
        st.sampled_from([0, 1, 2, None]),
        st.sampled_from([None, 15, 30, 45]),
        st.sets(st.sampled_from("123"), min_size=1),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=150)
@given(TICKETS, st.lists(st.sampled_from("123"), min_size=1, max_size=5))
def test_against_every_way_to_share_the_rides_out(drawn, routes):
    """Oracle: of all ways to cut the rides into runs, and all tickets for each run, none is cheaper."""
    rides = [ride(route, "A B", at * 12, at * 12 + 10) for at, route in enumerate(routes)]
    fares = book(
        [ticket(str(n), price, transfers, limit) for n, (price, transfers, limit, _) in enumerate(drawn)],
        [(str(n), route, "", "", "") for n, (_, _, _, for_routes) in enumerate(drawn) for route in sorted(for_routes)],
    )

    def least(begin, end):
        minutes = (end - begin - 1) * 12 + 10
        fits = [
            int(price)
            for price, transfers, limit, for_routes in drawn
            if set(routes[begin:end]) <= for_routes
            and (transfers is None or end - begin - 1 <= transfers)
            and (limit is None or (end - begin == 1 and transfers != 0) or minutes * 60 <= limit)
        ]
        return min(fits, default=None)

    count = len(rides)
    sums = []
    for size in range(count):
        for cuts in combinations(range(1, count), size):
            parts = [least(begin, end) for begin, end in zip((0, *cuts), (*cuts, count), strict=True)]
            if None not in parts:
                sums.append(sum(parts))
    try:
        found = price_by_tickets(fares, rides)
    except FareUnknown:
        found = None
    assert (found and found.amount) == (Decimal(min(sums)) if sums else None)
