"""How much of a timetable fits into an answer and its text (rule A11: 48 KB and 16 KB)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Any

from fingerpost.transit.tools.stop_timetable_shapes import TimetableDeparture, TimetableLine

# Bytes of the answer, then of the text; what is left is for alerts, warnings and where the answer comes from.
MOST_ROW_BYTES, MOST_ROW_TEXT_BYTES = 30_000, 7_500
MOST_LINE_BYTES, MOST_LINE_TEXT_BYTES = 9_000, 3_500
# The text says a time as "Wed 2022-02-23 00:05 " at most, and beside names a mode, brackets and a service day.
_TIME_BYTES, _NAME_BYTES, _LINE_BYTES = 21, 40, 30


def count_fitting(rows: Sequence[TimetableDeparture]) -> int:
    """Return how many of the first rows fit; the text names each line, direction and service day once."""
    named: set[tuple[str, ...]] = set()
    text_bytes = []
    for row in rows:
        names = (row["routeShortName"], row.get("headsign", ""), row.get("routeLongName", ""), row["serviceDay"])
        text_bytes.append(_TIME_BYTES + (0 if names in named else _NAME_BYTES + _bytes_of(names)))
        named.add(names)
    return min(_count(map(_json_bytes, rows), MOST_ROW_BYTES), _count(text_bytes, MOST_ROW_TEXT_BYTES))


def count_fitting_lines(lines: Sequence[TimetableLine]) -> int:
    """Return how many of the first lines fit."""
    text_bytes = [
        2 * _TIME_BYTES + _LINE_BYTES + _bytes_of((line["routeShortName"], line.get("headsign", ""))) for line in lines
    ]
    return min(_count(map(_json_bytes, lines), MOST_LINE_BYTES), _count(text_bytes, MOST_LINE_TEXT_BYTES))


def _count(sizes: Iterable[int], most: int) -> int:
    return sum(1 for _ in takewhile(lambda total: total <= most, accumulate(sizes)))


def _json_bytes(part: Mapping[str, Any]) -> int:
    return len(json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()) + 1


def _bytes_of(texts: Iterable[str]) -> int:
    return sum(len(text.encode()) for text in texts)
