"""Tickets from tables: fare_attributes.txt and fare_rules.txt."""

from fingerpost.transit.fares.book import FareBook, Ticket, TicketRule
from tests.gtfs.importing import findings_of, import_text

HEAD = "fare_id,price,currency_type,payment_method,transfers,transfer_duration,agency_id\n"


def read(tmp_path, tickets, rules=""):
    tables = {"fare_attributes.txt": HEAD + tickets}
    if rules:
        tables["fare_rules.txt"] = f"fare_id,route_id,origin_id,destination_id,contains_id\n{rules}"
    imported = import_text(tmp_path, tables)
    text = imported.timetable.feed_fares[0]
    return FareBook.from_json(text) if text else None, findings_of(imported)


def test_a_ticket(tmp_path):
    """An empty number of transfers is any number; empty durations and agencies set no limit."""
    book, findings = read(tmp_path, "t,2.80,EUR,0,,,\nu,1,EUR,0,0,4800,HSL\n")

    assert findings == []
    assert book.tickets == (
        Ticket(fare_id="t", price="2.80", currency="EUR", transfers=None, transfer_duration_s=None),
        Ticket(fare_id="u", price="1", currency="EUR", transfers=0, transfer_duration_s=4800, agency_id="HSL"),
    )


def test_contained_zones_of_one_rule(tmp_path):
    """Rows that differ in the contained zone only are one rule; other rows are rules of their own."""
    book, _ = read(tmp_path, "t,2.80,EUR,0,,,\n", "t,A,,,a\nt,A,,,b\nt,,x,y,\n")

    assert book.ticket_rules == (
        TicketRule(fare_id="t", route_id="A", contains_ids=("a", "b")),
        TicketRule(fare_id="t", origin_id="x", destination_id="y"),
    )


def test_rules_of_no_fare_make_no_ticket_universal(tmp_path):
    """The one rule names a fare in the wrong case: what the ticket is for is not known."""
    book, findings = read(tmp_path, "t,2.80,EUR,0,,,\n", "T,A,,,\n")

    assert (book.problem, len(findings)) == ("no rule of fare_rules.txt is for a fare that is there", 1)


def test_faults(tmp_path):
    """Unread prices, repeated and unknown fares, and fares that no rule is for are counted where they stand."""
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


def test_no_fares(tmp_path):
    """An empty table says nothing of fares."""
    assert read(tmp_path, "") == (None, [])


def test_zones_are_read_aside(tmp_path):
    """Stops are read a second time for their zones; a fault of theirs is counted once."""
    rows = "ALPHA;A;60.17;24.94;a\nBETA;B;60.17;24.95;b\nGAMMA;G;60.17;24.96;\n"
    stops = f"stop_id;stop_name;stop_lat;stop_lon;zone_id\n{rows}"
    tables = {
        "fare_attributes.txt": HEAD + "t,1,EUR,0,,,\n",
        "fare_rules.txt": "fare_id,origin_id\nt,a\n",
        "stops.txt": stops,
    }
    imported = import_text(tmp_path, tables)

    assert FareBook.from_json(imported.timetable.feed_fares[0]).zone_of == {"ALPHA": "a", "BETA": "b"}
    assert findings_of(imported) == [("table-delimiter-assumed", 1, "stops.txt", 1)]
