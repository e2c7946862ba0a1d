"""Read the fares of a GTFS feed: version 1 (fare_attributes.txt) or version 2 (fare products by leg)."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import Table, find_integer
from fingerpost.transit.fares.book import (
    TRANSFER_INSTEAD,
    TRANSFER_ONLY,
    FareBook,
    LegRule,
    Product,
    Ticket,
    TicketRule,
    TransferRule,
    find_amount,
    find_currency,
)

_TRANSFERS = {"0": 0, "1": 1, "2": 2, "": None}
_TICKET_COLUMNS = ("fare_id", "price", "currency_type", "transfers", "transfer_duration", "agency_id")
# Required columns of each table. A fault in a table that belongs to the leg rules could hide a rule that applies.
_LEG_RULE_TABLES = {
    "fare_transfer_rules.txt": ("fare_transfer_type",),
    "fare_products.txt": ("fare_product_id", "amount", "currency"),
    "stop_areas.txt": ("area_id", "stop_id"),
    "route_networks.txt": ("network_id", "route_id"),
    "rider_categories.txt": ("rider_category_id",),
}
_REQUIRED = _LEG_RULE_TABLES | {
    "fare_attributes.txt": ("fare_id", "price", "currency_type"),
    "fare_rules.txt": ("fare_id",),
    "fare_leg_rules.txt": ("fare_product_id",),
    "fare_leg_join_rules.txt": (),
}


def read_fares(archive: Archive) -> FareBook | None:
    """Return the fares of a feed, or None; leg fares replace tickets if a feed has both (GTFS, fare_attributes.txt)."""
    book = read_leg_fares(archive)
    table = _open(archive, "fare_attributes.txt")
    if table is None:
        return book
    if book is not None:
        table.note(Reason.FARES_OF_FIRST_VERSION_UNAPPLIED, 1)
        return book
    tickets: dict[str, Ticket] = {}
    lines: dict[str, int] = {}
    for line, (fare_id, price, currency_text, transfers, duration, agency_id) in table.rows(*_TICKET_COLUMNS):
        if not fare_id or fare_id in tickets:
            table.note(Reason.ID_REPEATED if fare_id else Reason.ID_MISSING, line, "fare_id")
            continue
        amount, currency = find_amount(price), find_currency(currency_text)
        seconds = find_integer(duration) if duration else None
        is_valid = amount is not None and amount >= 0 and currency is not None and transfers in _TRANSFERS
        if not is_valid or (duration and (seconds is None or seconds < 0)):
            table.note(Reason.FARE_UNREADABLE_UNAPPLIED, line)
            price = ""
        lines[fare_id] = line
        tickets[fare_id] = Ticket(
            fare_id=fare_id,
            price=price,
            currency=currency or "",
            transfers=_TRANSFERS.get(transfers),
            transfer_duration_s=seconds,
            agency_id=agency_id,
        )
    if not tickets:
        return None
    book = _add_rules(archive, tickets)
    if book.ticket_rules:
        ruled = {rule.fare_id for rule in book.ticket_rules}
        for fare_id, line in lines.items():
            if fare_id not in ruled:
                table.note(Reason.FARE_WITHOUT_RULE_UNAPPLIED, line, "fare_id")
    return book


_RULE_KEY = ("fare_id", "route_id", "origin_id", "destination_id")


def _add_rules(archive: Archive, tickets: dict[str, Ticket]) -> FareBook:
    book = FareBook(tickets=tuple(tickets.values()))
    table = _open(archive, "fare_rules.txt")
    if table is None:
        return replace(book, problem=_find_fault(archive, "fare_rules.txt"))
    unknown_fares = 0
    contains: dict[tuple[str, ...], list[str]] = {}
    for line, (*key, zone) in table.rows(*_RULE_KEY, "contains_id"):
        if key[0] not in tickets:
            table.note(Reason.FARE_RULE_OF_UNKNOWN_FARE, line, "fare_id")
            unknown_fares += 1
            continue
        zones = contains.setdefault(tuple(key), [])
        if zone:
            zones.append(zone)
    if unknown_fares and not contains:
        # Without rules every ticket would be valid everywhere, which is not what the feed means.
        return replace(book, problem="no rule of fare_rules.txt applies to a known fare")
    rules = tuple(
        TicketRule(**dict(zip(_RULE_KEY, key, strict=True)), contains_ids=tuple(zones))
        for key, zones in contains.items()
    )
    names_zones = any(rule.origin_id or rule.destination_id or rule.contains_ids for rule in rules)
    zones_of_stops = _rows(archive.find_aside("stops.txt"), "stop_id", "zone_id") if names_zones else ()
    return replace(book, ticket_rules=rules, zone_of={stop: zone for stop, zone in zones_of_stops if zone})


_LEG_KEY = ("leg_group_id", "network_id", "from_area_id", "to_area_id", "fare_product_id")
_TRANSFER_KEY = ("from_leg_group_id", "to_leg_group_id", "fare_product_id")
_ANY_COUNT = -1
_LIMIT_TYPES = range(4)


def read_leg_fares(archive: Archive) -> FareBook | None:
    """Return the leg fares of a feed, without prices if a rule that could apply cannot be parsed."""
    rules_table = _open(archive, "fare_leg_rules.txt")
    if rules_table is None:
        fault = _find_fault(archive, "fare_leg_rules.txt")
        return FareBook(problem=fault) if fault else None
    problem = next(filter(None, (_find_fault(archive, name) for name in _LEG_RULE_TABLES)), "")
    products, product_ids, product_problem = _read_products(archive)
    rules = []
    columns = (*_LEG_KEY, "rule_priority", "from_timeframe_group_id", "to_timeframe_group_id")
    for line, (*key, priority_text, from_time, to_time) in rules_table.rows(*columns):
        priority, product_id = find_integer(priority_text or "0"), key[-1]
        if not product_id or priority is None or priority < 0:
            rules_table.note(Reason.FARE_RULE_UNREADABLE_UNAPPLIED, line)
            problem = "a rule of fare_leg_rules.txt cannot be read"
            continue
        is_timed = bool(from_time or to_time)
        if is_timed:
            rules_table.note(Reason.FARE_BY_TIME_OF_DAY_UNAPPLIED, line, "from_timeframe_group_id")
        if product_ids and product_id not in product_ids:
            rules_table.note(Reason.FARE_RULE_OF_UNKNOWN_FARE, line, "fare_product_id")
        rules.append(LegRule(**dict(zip(_LEG_KEY, key, strict=True)), priority=priority, is_timed=is_timed))
    if not rules and not problem:
        return None
    transfers, transfer_problem = _read_transfers(archive, product_ids)
    return FareBook(
        leg_rules=tuple(rules),
        transfer_rules=transfers,
        products=products,
        network_of=_read_networks(archive) if any(rule.network_id for rule in rules) else {},
        areas_of=_read_areas(archive) if any(rule.from_area_id or rule.to_area_id for rule in rules) else {},
        has_priority="rule_priority" in rules_table.columns,
        joins_legs=_joins_legs(archive),
        problem=problem or transfer_problem or product_problem,
    )


def _open(archive: Archive, name: str) -> Table | None:
    return archive.find_extra(name, *_REQUIRED[name])


def _rows(table: Table | None, *columns: str) -> Iterator[tuple[str, ...]]:
    if table is not None:
        yield from (fields for _, fields in table.rows(*columns))


def _find_fault(archive: Archive, name: str) -> str:
    table = archive.find_aside(name)
    if table is None or not table.columns:
        return ""
    missing = [column for column in _REQUIRED[name] if column not in table.columns]
    return f"{name} has no column {missing[0]}" if missing else ""


def _read_transfers(archive: Archive, product_ids: Collection[str]) -> tuple[tuple[TransferRule, ...], str]:
    table = _open(archive, "fare_transfer_rules.txt")
    if table is None:
        return (), ""
    rules, problem = [], ""
    columns = (*_TRANSFER_KEY, "transfer_count", "duration_limit", "duration_limit_type", "fare_transfer_type")
    for line, (*key, count_text, limit_text, limit_type_text, type_text) in table.rows(*columns):
        count, type_ = find_integer(count_text or str(_ANY_COUNT)), find_integer(type_text)
        limit = find_integer(limit_text) if limit_text else None
        limit_type = find_integer(limit_type_text) if limit_type_text else -1
        has_limit = limit is not None and limit > 0 and limit_type in _LIMIT_TYPES
        if (
            count is None
            or (count != _ANY_COUNT and count <= 0)
            or type_ is None
            or not TRANSFER_ONLY <= type_ <= TRANSFER_INSTEAD
            or (limit_text and not has_limit)
        ):
            table.note(Reason.FARE_RULE_UNREADABLE_UNAPPLIED, line)
            problem = "a rule of fare_transfer_rules.txt cannot be read"
            continue
        if product_ids and key[-1] and key[-1] not in product_ids:
            table.note(Reason.FARE_RULE_OF_UNKNOWN_FARE, line, "fare_product_id")
        rules.append(
            TransferRule(
                **dict(zip(_TRANSFER_KEY, key, strict=True)),
                transfer_count=count,
                duration_limit_s=limit,
                duration_limit_type=limit_type if limit_type is not None else -1,
                fare_transfer_type=type_,
            )
        )
    return tuple(rules), problem


def _read_products(archive: Archive) -> tuple[tuple[Product, ...], Collection[str], str]:
    """Return each product's cheapest price for an ordinary rider, all product ids, and the problem, if any."""
    table = _open(archive, "fare_products.txt")
    if table is None:
        return (), (), "fare_products.txt is missing or unreadable"
    problem = ""
    product_ids: set[str] = set()
    categories = _rows(_open(archive, "rider_categories.txt"), "rider_category_id", "is_default_fare_category")
    ordinary = {"", *(category for category, is_default in categories if is_default == "1")}
    least: dict[tuple[str, str], Product] = {}
    for line, (product_id, category, amount_text, currency_text) in table.rows(
        "fare_product_id", "rider_category_id", "amount", "currency"
    ):
        product_ids.add(product_id)
        amount, currency = find_amount(amount_text), find_currency(currency_text)
        if not product_id or amount is None or currency is None:
            table.note(Reason.FARE_UNREADABLE_UNAPPLIED, line)
            problem = "a row of fare_products.txt cannot be read"
        elif category not in ordinary:
            table.note(Reason.FARE_OF_OTHER_RIDERS_UNAPPLIED, line, "rider_category_id")
        else:
            known = least.get((product_id, currency))
            if known is None or amount < (find_amount(known.amount) or 0):
                least[product_id, currency] = Product(fare_product_id=product_id, amount=amount_text, currency=currency)
    return tuple(least.values()), product_ids, problem


def _read_networks(archive: Archive) -> dict[str, str]:
    table = _open(archive, "route_networks.txt") or archive.find_aside("routes.txt")
    return {route: network for route, network in _rows(table, "route_id", "network_id") if network}


def _read_areas(archive: Archive) -> dict[str, tuple[str, ...]]:
    """Return the areas of each stop; a platform without areas inherits its station's (GTFS, stop_areas.txt)."""
    areas: dict[str, list[str]] = {}
    for area, stop in _rows(_open(archive, "stop_areas.txt"), "area_id", "stop_id"):
        if area and stop:
            areas.setdefault(stop, []).append(area)
    for stop, parent in _rows(archive.find_aside("stops.txt"), "stop_id", "parent_station"):
        if stop not in areas and parent in areas:
            areas[stop] = areas[parent]
    return {stop: tuple(of_stop) for stop, of_stop in areas.items()}


def _joins_legs(archive: Archive) -> bool:
    table = _open(archive, "fare_leg_join_rules.txt")
    if table is None:
        return False
    for line, _ in table.rows("from_network_id"):
        table.note(Reason.FARE_RULE_THAT_JOINS_LEGS_UNAPPLIED, line)
        return True
    return False
