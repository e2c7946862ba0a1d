"""Fares of legs (GTFS Fares v2): from tables to prices."""

import pytest

from fingerpost.transit.fares.book import FareBook, FareUnknown
from fingerpost.transit.fares.prices import price_by_legs
from tests.fares.drawing import ride
from tests.gtfs.importing import findings_of, import_text

PRODUCTS = "fare_product_id,amount,currency\none,2.00,USD\nexpress,5.00,USD\nupgrade,3.00,USD\nboth,6.00,USD\n"
LEG_HEAD = "leg_group_id,network_id,from_area_id,to_area_id,fare_product_id"
NETWORKS = "network_id,route_id\nlocal,1\nlocal,2\nfast,X\n"
AREAS = "area_id,stop_id\nnorth,N\nsouth,S\nnorth,B\nsouth,B\n"
TRANSFER_HEAD = (
    "from_leg_group_id,to_leg_group_id,transfer_count,duration_limit,duration_limit_type,"
    "fare_transfer_type,fare_product_id\n"
)
BY_NETWORK = f"{LEG_HEAD}\nL,local,,,one\nF,fast,,,express\n"
BUS, TRAM, FAST = ride("1", "N S", 0, 10), ride("2", "S N", 20, 30), ride("X", "N S", 40, 50)


@pytest.fixture
def read(tmp_path):
    def read_tables(leg_rules, transfers="", **tables):
        given = {
            "fare_leg_rules.txt": leg_rules,
            "fare_products.txt": PRODUCTS,
            "route_networks.txt": NETWORKS,
            "stop_areas.txt": AREAS,
            "fare_transfer_rules.txt": TRANSFER_HEAD + transfers,
        }
        imported = import_text(tmp_path, given | {f"{name}.txt": text for name, text in tables.items()})
        return FareBook.from_json(imported.timetable.feed_fares[0]), findings_of(imported)

    return read_tables


def cost(book, *rides):
    price = price_by_legs(book, rides)
    return str(price.amount), " ".join(price.tickets)


def test_a_rule_with_only_a_product_applies_to_every_leg(read):
    book, findings = read("fare_product_id\none\n")

    assert (cost(book, BUS, FAST), findings) == (("4.00", "one one"), [])


def test_without_route_networks_the_network_is_in_routes(read):
    routes = "route_id,route_short_name,route_type,network_id\nA,A,3,local\n"
    book, _ = read(BY_NETWORK, route_networks=None, routes=routes)

    assert book.network_of == {"A": "local"}


@pytest.mark.parametrize(("priority", "paid"), [("", "5.00"), (",rule_priority", "2.00")])
def test_empty_fields(read, priority, paid):
    """An empty network stands for those that no rule lists; where rules have priorities, for any."""
    ranks = (",0", ",1") if priority else ("", "")
    book, _ = read(f"network_id,fare_product_id{priority}\nfast,express{ranks[0]}\n,one{ranks[1]}\n")

    assert cost(book, FAST)[0] == paid


@pytest.mark.parametrize(("stops", "paid"), [("N S", "2.00"), ("N B", "2.00"), ("S N", None), ("N N", None)])
def test_a_rule_applies_to_legs_whose_ends_are_in_its_areas(read, stops, paid):
    book, _ = read(f"{LEG_HEAD}\nL,,north,south,one\n")

    if paid:
        assert cost(book, ride("1", stops))[0] == paid
    else:
        with pytest.raises(FareUnknown, match="no fare rule applies to line 1"):
            price_by_legs(book, [ride("1", stops)])


def test_a_platform_without_an_area_is_in_that_of_its_station(read):
    stops = (
        "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\nC,C,60.1,24.9,1,\nP,P,60.1,24.9,0,C\n"
        "Q,Q,60.1,24.9,0,C\nALPHA,A,60.17,24.94,,\nBETA,B,60.17,24.95,,\nGAMMA,G,60.17,24.96,,\n"
    )
    book, _ = read(f"{LEG_HEAD}\nL,,in,,one\n", stop_areas="area_id,stop_id\nin,C\nout,Q\n", stops=stops)

    assert book.areas_of == {"C": ("in",), "Q": ("out",), "P": ("in",)}


@pytest.mark.parametrize(
    ("type_and_product", "paid"),
    [("0,", "2.00"), ("0,upgrade", "5.00"), ("1,upgrade", "10.00"), ("1,", "7.00"), ("2,both", "6.00"), ("2,", "0.00")],
)
def test_two_legs_with_a_transfer(read, type_and_product, paid):
    """Type 0 is A + AB, type 1 is A + AB + B, type 2 is AB; no product costs nothing."""
    assert cost(read(BY_NETWORK, f"L,F,,,,{type_and_product}\n")[0], BUS, FAST)[0] == paid


@pytest.mark.parametrize(
    ("count_type_and_product", "paid"),
    [
        # The next transfer is added to what was paid: S + BC, or S + BC + C.
        ("-1,,,0,upgrade", "8.00"),
        ("-1,,,1,upgrade", "12.00"),
        ("-1,,,2,upgrade", "6.00"),
        # After the last transfer of a rule, the next leg is paid by itself.
        ("1,,,0,", "4.00"),
        ("2,,,0,", "2.00"),
        ("-1,,,0,", "2.00"),
    ],
)
def test_three_legs_with_transfers(read, count_type_and_product, paid):
    book, _ = read(BY_NETWORK, f"L,L,{count_type_and_product}\n")

    assert cost(book, BUS, TRAM, ride("1", "N S", 40, 50))[0] == paid


@pytest.mark.parametrize(("type_", "longest_s"), [("0", 1800), ("1", 1200), ("2", 600), ("3", 1200)])
def test_a_time_limit_runs_between_departures_or_arrivals_of_two_legs(read, type_, longest_s):
    within, beyond = (
        cost(read(BY_NETWORK, f"L,L,-1,{limit},{type_},0,\n")[0], BUS, TRAM)[0] for limit in (longest_s, longest_s - 1)
    )

    assert (within, beyond) == ("2.00", "4.00")


def test_transfer_between_groups_that_no_rule_lists(read):
    book, _ = read(BY_NETWORK, "L,,,,,0,upgrade\n")

    assert [cost(book, *rides)[0] for rides in ((BUS, FAST), (FAST, BUS))] == ["5.00", "7.00"]


def test_the_price_is_the_least_of_the_default_category_and_of_everyone(read):
    products = (
        "fare_product_id,rider_category_id,fare_media_id,amount,currency\n"
        "one,ADULT,cash,2.50,USD\none,ADULT,card,2.25,USD\none,YOUTH,card,1.00,USD\n"
    )
    riders = "rider_category_id,is_default_fare_category\nADULT,1\nYOUTH,0\n"
    book, _ = read("fare_product_id\none\n", fare_products=products, rider_categories=riders)

    assert cost(book, BUS) == ("2.25", "one")


@pytest.mark.parametrize(
    ("tables", "rides", "why"),
    [
        ({"fare_leg_join_rules": "from_network_id,to_network_id\nlocal,local\n"}, [BUS, TRAM], "rules that join legs"),
        (
            {"leg_rules": "fare_product_id,from_timeframe_group_id\none,peak\n"},
            [BUS, TRAM],
            "depend on the time of day",
        ),
        (
            {"fare_products": "fare_product_id,rider_category_id,amount,currency\none,ADULT,2.50,USD\n"},
            [BUS],
            "no fare products for riders in the default category",
        ),
        # A product that is not there has no price.
        (
            {"leg_rules": f"{LEG_HEAD}\nL,local,,,one\nF,fast,,,flying\n", "transfers": "L,F,,,,0,none\n"},
            [FAST],
            "no fare product",
        ),
        (
            {"transfers": "L,L,-1,,,0,off\n", "fare_products": PRODUCTS + "off,-5.00,USD\n"},
            [BUS, TRAM],
            "discounts exceed its prices",
        ),
        # Free from line X to line 1 and once from 1 to 1: whether the first counts as well is not stated.
        (
            {"transfers": "F,L,,,,0,\nL,L,1,,,0,\n"},
            [FAST, BUS, TRAM],
            "from which transfers count towards its limit",
        ),
        # Where the time of a second, different transfer begins is not stated.
        ({"transfers": "L,L,-1,,,0,\nL,F,,3600,0,0,\n"}, [BUS, TRAM, FAST], "the ride at which the time limit"),
    ],
)
def test_no_price_is_guessed(read, tables, rides, why):
    book, _ = read(**({"leg_rules": BY_NETWORK} | tables))
    with pytest.raises(FareUnknown, match=why):
        price_by_legs(book, rides)


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("fare_transfer_rules", "from_leg_group_id,to_leg_group_id\nL,L\n"),
        ("stop_areas", "area,stop\nnorth,N\n"),
        ("route_networks", "network,route\nfast,X\n"),
        ("fare_leg_rules", "leg_group_id\nL\n"),
    ],
)
def test_a_table_without_its_column_could_change_any_price(read, table, text):
    book, _ = read(BY_NETWORK, **{table: text})

    assert book.problem == f"{table}.txt lacks a required column"


def test_too_many_ways_to_pay_are_not_tried(read):
    """Twelve transfer products from ride to ride, nine rides: 12 to the power of 8 ways."""
    products = "".join(f"p{number},{number},USD\n" for number in range(12))
    transfers = "".join(f"L,L,-1,,,0,p{number}\n" for number in range(12))
    book = read(f"{LEG_HEAD}\nL,local,,,one\n", transfers, fare_products=PRODUCTS + products)[0]
    rides = [ride("1", "N S", at, at + 5) for at in range(0, 90, 10)]
    with pytest.raises(FareUnknown, match="too many ways"):
        price_by_legs(book, rides)

    assert cost(book, *rides[:3])[0] == "2.00"


@pytest.mark.parametrize(
    ("tables", "table", "line", "problem"),
    [
        ({"fare_products": PRODUCTS + "dear,much,USD\n"}, "fare_products.txt", 6, "cannot be parsed"),
        ({"leg_rules": BY_NETWORK + "L,,,,\n"}, "fare_leg_rules.txt", 4, "cannot be parsed"),
        ({"transfers": "L,L,-1,,,7,\n"}, "fare_transfer_rules.txt", 2, "cannot be parsed"),
        ({"transfers": "L,L,-1,60,,0,\n"}, "fare_transfer_rules.txt", 2, "cannot be parsed"),
        # Rules that are not applied could decide the price.
        ({"fare_leg_join_rules": "from_network_id\nlocal\n"}, "fare_leg_join_rules.txt", 2, ""),
        ({"leg_rules": "fare_product_id,from_timeframe_group_id\none,peak\n"}, "fare_leg_rules.txt", 2, ""),
    ],
)
def test_rows_that_are_not_applied_are_counted(read, tables, table, line, problem):
    book, findings = read(**({"leg_rules": BY_NETWORK} | tables))

    reason = "fare-unreadable-unapplied" if problem else "fare-rule-unsupported"
    assert findings == [(reason, 1, table, line)]
    assert book.problem.endswith(problem)


def test_leg_fares_win_over_tickets(read):
    old = "fare_id,price,currency_type,payment_method,transfers\nold,9.00,USD,0,\n"
    book, _ = read(BY_NETWORK, fare_attributes=old)

    assert book.tickets == ()
