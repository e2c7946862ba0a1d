"""Read the fares of a GTFS feed: version 1 (fare_attributes.txt) or version 2 (fare products by leg)."""

from collections.abc import Iterator

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.field_values import parse_integer
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import Table
from fingerpost.transit.fares import book

_TRANSFERS = {"0": 0, "1": 1, "2": 2, "": None}
_TICKET_COLUMNS = ("fare_id", "price", "currency_type", "transfers", "transfer_duration", "agency_id")
_RULE_KEY = ("fare_id", "route_id", "origin_id", "destination_id")
_LEG_KEY = ("leg_group_id", "network_id", "from_area_id", "to_area_id", "fare_product_id")
_TRANSFER_KEY = ("from_leg_group_id", "to_leg_group_id", "fare_product_id")
_LIMIT_TYPES = range(4)


def read_fares(archive: Archive) -> book.FareBook | None:
    """Return the fares of a feed, or None; leg fares replace tickets if a feed has both (GTFS, fare_attributes.txt)."""
    reader = _FareReader(archive)
    return reader.read_leg_fares() or reader.read_tickets()


class _FareReader:
    """Reads the fare tables; ``problem`` is set if a faulty table or row could contain a rule that applies."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.problem = ""

    def _open(self, name: str, *required: str) -> Table | None:
        table = self.archive.find_optional_table(name, *required)
        if table is None and self.archive.measure([name]):
            self.problem = self.problem or f"{name} lacks a required column"
        return table

    def _reject(self, table: Table, line: int) -> None:
        table.note(Reason.FARE_UNREADABLE_UNAPPLIED, line)
        self.problem = self.problem or f"a row in {table.name} cannot be parsed"

    def read_tickets(self) -> book.FareBook | None:
        table = self._open("fare_attributes.txt", "fare_id", "price", "currency_type")
        if table is None:
            return None
        tickets: dict[str, book.Ticket] = {}
        lines: dict[str, int] = {}
        for line, (fare_id, price, currency_text, transfers, duration, agency_id) in table.read_rows(*_TICKET_COLUMNS):
            if not fare_id or fare_id in tickets:
                table.note(Reason.ID_REPEATED if fare_id else Reason.ID_MISSING, line, "fare_id")
                continue
            amount, currency = book.parse_amount(price), book.parse_currency(currency_text)
            seconds = parse_integer(duration) if duration else None
            is_valid = amount is not None and amount >= 0 and currency is not None and transfers in _TRANSFERS
            if not is_valid or (duration and (seconds is None or seconds < 0)):
                table.note(Reason.FARE_UNREADABLE_UNAPPLIED, line)
                price = ""
            lines[fare_id] = line
            tickets[fare_id] = book.Ticket(
                fare_id=fare_id,
                price=price,
                currency=currency or "",
                transfers=_TRANSFERS.get(transfers),
                transfer_duration_s=seconds,
                agency_id=agency_id,
            )
        if not tickets:
            return None
        rules = self._read_ticket_rules(tickets)
        fares_with_rule = {rule.fare_id for rule in rules} or tickets.keys()
        for fare_id, line in lines.items():
            if fare_id not in fares_with_rule:
                table.note(Reason.FARE_WITHOUT_RULE_UNAPPLIED, line, "fare_id")
        has_zones = any(rule.origin_id or rule.destination_id or rule.contains_ids for rule in rules)
        zones = _list_rows(self.archive.reopen_table("stops.txt"), "stop_id", "zone_id") if has_zones else ()
        return book.FareBook(
            tickets=tuple(tickets.values()),
            ticket_rules=rules,
            zone_of={stop: zone for stop, zone in zones if zone},
            problem=self.problem,
        )

    def _read_ticket_rules(self, tickets: dict[str, book.Ticket]) -> tuple[book.TicketRule, ...]:
        table = self._open("fare_rules.txt", "fare_id")
        if table is None:
            return ()
        has_unknown_fare = False
        contains: dict[tuple[str, ...], list[str]] = {}
        for line, (*key, zone) in table.read_rows(*_RULE_KEY, "contains_id"):
            if key[0] not in tickets:
                table.note(Reason.FARE_RULE_OF_UNKNOWN_FARE, line, "fare_id")
                has_unknown_fare = True
                continue
            zones = contains.setdefault(tuple(key), [])
            if zone:
                zones.append(zone)
        if has_unknown_fare and not contains:
            # Without any rule, every ticket would wrongly be valid everywhere.
            self.problem = "no rule in fare_rules.txt applies to a known fare"
        return tuple(
            book.TicketRule(**dict(zip(_RULE_KEY, key, strict=True)), contains_ids=tuple(zones))
            for key, zones in contains.items()
        )

    def read_leg_fares(self) -> book.FareBook | None:
        table = self._open("fare_leg_rules.txt", "fare_product_id")
        if table is None:
            return book.FareBook(problem=self.problem) if self.problem else None
        columns = (*_LEG_KEY, "rule_priority", "from_timeframe_group_id", "to_timeframe_group_id")
        rows = list(table.read_rows(*columns))
        if not rows:
            return None
        products = self._read_products()
        rules = []
        for line, (*key, priority_text, from_time, to_time) in rows:
            priority, is_timed = parse_integer(priority_text or "0"), bool(from_time or to_time)
            if not key[-1] or priority is None or priority < 0:
                self._reject(table, line)
                continue
            if is_timed:
                table.note(Reason.FARE_RULE_UNSUPPORTED, line, "from_timeframe_group_id")
            rules.append(book.LegRule(**dict(zip(_LEG_KEY, key, strict=True)), priority=priority, is_timed=is_timed))
        transfer_rules, networks, areas = self._read_transfer_rules(), self._read_networks(), self._read_areas()
        return book.FareBook(
            leg_rules=tuple(rules),
            transfer_rules=transfer_rules,
            products=products,
            network_of=networks,
            areas_of=areas,
            has_priority="rule_priority" in table.columns,
            joins_legs=self._has_join_rules(),
            problem=self.problem,
        )

    def _read_products(self) -> tuple[book.Product, ...]:
        """Return each product's lowest price for an ordinary rider."""
        table = self._open("fare_products.txt", "fare_product_id", "amount", "currency")
        if table is None:
            self.problem = self.problem or "fare_products.txt is missing"
            return ()
        categories = _list_rows(
            self._open("rider_categories.txt", "rider_category_id"), "rider_category_id", "is_default_fare_category"
        )
        ordinary = {"", *(category for category, is_default in categories if is_default == "1")}
        lowest: dict[tuple[str, str], book.Product] = {}
        for line, (product_id, category, amount_text, currency_text) in table.read_rows(
            "fare_product_id", "rider_category_id", "amount", "currency"
        ):
            amount, currency = book.parse_amount(amount_text), book.parse_currency(currency_text)
            if not product_id or amount is None or currency is None:
                self._reject(table, line)
            elif category in ordinary:
                cheapest = lowest.get((product_id, currency))
                if cheapest is None or amount < (book.parse_amount(cheapest.amount) or 0):
                    product = book.Product(fare_product_id=product_id, amount=amount_text, currency=currency)
                    lowest[product_id, currency] = product
        return tuple(lowest.values())

    def _read_transfer_rules(self) -> tuple[book.TransferRule, ...]:
        table = self._open("fare_transfer_rules.txt", "fare_transfer_type")
        if table is None:
            return ()
        rules = []
        columns = (*_TRANSFER_KEY, "transfer_count", "duration_limit", "duration_limit_type", "fare_transfer_type")
        for line, (*key, count_text, limit_text, limit_type_text, type_text) in table.read_rows(*columns):
            count, type_ = parse_integer(count_text or "-1"), parse_integer(type_text or "-1")
            limit_s, limit_type = parse_integer(limit_text or "0"), parse_integer(limit_type_text or "-1")
            is_valid = limit_s is not None and (limit_type in _LIMIT_TYPES if limit_s > 0 else not limit_text)
            if not is_valid or not count or count < -1 or type_ is None or not 0 <= type_ <= book.TRANSFER_INSTEAD:
                self._reject(table, line)
                continue
            rules.append(
                book.TransferRule(
                    **dict(zip(_TRANSFER_KEY, key, strict=True)),
                    transfer_count=count,
                    duration_limit_s=limit_s or None,
                    duration_limit_type=-1 if limit_type is None else limit_type,
                    fare_transfer_type=type_,
                )
            )
        return tuple(rules)

    def _read_networks(self) -> dict[str, str]:
        table = self._open("route_networks.txt", "network_id", "route_id") or self.archive.reopen_table("routes.txt")
        return {route: network for route, network in _list_rows(table, "route_id", "network_id") if network}

    def _read_areas(self) -> dict[str, tuple[str, ...]]:
        """Return the areas of each stop; a platform without areas inherits its station's (GTFS, stop_areas.txt)."""
        areas: dict[str, list[str]] = {}
        for area, stop in _list_rows(self._open("stop_areas.txt", "area_id", "stop_id"), "area_id", "stop_id"):
            if area and stop:
                areas.setdefault(stop, []).append(area)
        for stop, parent in _list_rows(self.archive.reopen_table("stops.txt"), "stop_id", "parent_station"):
            if stop not in areas and parent in areas:
                areas[stop] = areas[parent]
        return {stop: tuple(area_ids) for stop, area_ids in areas.items()}

    def _has_join_rules(self) -> bool:
        table = self._open("fare_leg_join_rules.txt")
        line = next((line for line, _ in table.read_rows("from_network_id")), None) if table else None
        if table is not None and line is not None:
            table.note(Reason.FARE_RULE_UNSUPPORTED, line)
        return line is not None


def _list_rows(table: Table | None, *columns: str) -> Iterator[tuple[str, ...]]:
    if table is not None:
        yield from (fields for _, fields in table.read_rows(*columns))
