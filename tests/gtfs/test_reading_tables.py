"""The byte parser compared with the standard library's csv, and what only the byte parser accepts."""

import csv
import io
import math
import threading

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fingerpost.transit.engine.gtfs.csv.field_values import parse_decimal, parse_integer, parse_time_s
from fingerpost.transit.engine.gtfs.csv.findings import Findings
from fingerpost.transit.engine.gtfs.csv.kernel import BLANK, UNKNOWN, parse_decimals
from fingerpost.transit.engine.gtfs.csv.table import Block, IdIndex, Table, prefetch

SPACES = "".join(map(chr, range(33)))
FIELDS = st.text(st.sampled_from('ab",\n\r äé東;'), max_size=6)


def table_of(data, findings=None):
    return Table("feed", "a.txt", lambda: io.BytesIO(data), findings or Findings())


def counted(findings):
    return [(found.reason, found.count, found.places[0].line) for found in findings.list_all()]


def told_by_csv(text):
    reader = csv.reader(io.StringIO(text, newline=""))
    next(reader)
    rows = [(reader.line_num, [" ".join(field.strip(SPACES).splitlines()) for field in row]) for row in reader]
    return [(line, tuple((row + [""] * 3)[:3])) for line, row in rows if any(row)]


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.lists(FIELDS, min_size=1, max_size=3), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from([16, 23, 64, 4_096]),
)
def test_rows_equal_those_of_csv_wherever_a_block_ends(rows, line_end, quoting, block_bytes):
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=line_end, quoting=quoting)
    writer.writerows([["x", "y", "z"], *rows])
    text = out.getvalue()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table._decode, "__defaults__", (block_bytes,))
        told = list(table_of(text.encode()).read_rows("x", "y", "z"))

    assert told == told_by_csv(text)


def test_a_stray_quote_is_a_letter_and_counted(tmp_path):
    findings = Findings()
    table = table_of(b'x,y\n"Alpha,1\nBe"ta,2\n"Gam"ma",3\n"D""e",4\n', findings)

    assert list(table.read_rows("x", "y")) == [
        (2, ('"Alpha', "1")),
        (3, ('Be"ta', "2")),
        (4, ('Gam"ma', "3")),
        (5, ('D"e', "4")),
    ]
    assert counted(findings) == [("quote-without-end-assumed", 1, 2)]


def test_control_characters_are_removed_and_line_breaks_in_texts_become_spaces(tmp_path):
    findings = Findings()
    # Files of DOS end with U+001A.
    table = table_of(b'x\n\x1b[2JTown\x07\r\x01\n"Line\nFeeds: FAKE"\nA\xc2\x9b\n\x1a', findings)

    assert [fields[0] for _, fields in table.read_rows("x")] == ["[2JTown", "Line Feeds: FAKE", "A"]
    assert counted(findings) == [("text-direction-removed", 4, 2)]


def test_characters_that_override_the_direction_of_texts_are_removed_and_counted(tmp_path):
    findings = Findings()
    table = table_of("x\nTown\n\u202etopS\u202c \u2066A\u2069\n\u200fTown\n\u202aB\n".encode(), findings)

    assert [fields[0] for _, fields in table.read_rows("x")] == ["Town", "topS A", "\u200fTown", "B"]
    assert counted(findings) == [("text-direction-removed", 2, 3)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("x,y\nTöölö,1\n".encode("latin-1"), "table-encoding-assumed"),
        ("\ufeffx,y\nTöölö,1\n".encode(), None),
        ("X, y \r Töölö , 1".encode(), None),
        ('\n"x","y"\n\n,\n"Töölö" , "1"\n'.encode(), None),
        ("x,y\nTöölö,1,beyond\n".encode(), "row-longer-than-header-assumed"),
        ("\u202ax,y\u202c\nTöölö,1\n".encode(), "text-direction-removed"),
    ],
)
def test_odd_tables_are_read_and_guesses_counted(data, reason):
    findings = Findings()
    rows = [fields for _, fields in table_of(data, findings).read_rows("x", "y")]

    assert (rows, [found.reason for found in findings.list_all()]) == ([("Töölö", "1")], [reason] if reason else [])


def test_a_table_of_two_encodings_is_read_line_by_line():
    rows = table_of("x\nTöölö\n".encode() + "Töölö €\n".encode("cp1252")).read_rows("x")

    assert [fields for _, fields in rows] == [("Töölö",), ("Töölö €",)]


def spans_of(texts):
    blob = np.frombuffer("".join(texts).encode() + b"\n", np.uint8).copy()
    ends = np.cumsum([len(text.encode()) for text in texts]).astype(np.int32)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int32)
    return blob, starts, ends


TIMES = {"8:00": 28_800, "08:10": 29_400, "0:00:00": 0, "08:00:01": 28_801, "999:59:59": 3_599_999}
NO_TIMES = (
    "", "123:00", "8:0", ":00", "8:60", "1000:00:00", "8:60:00", "8:00:60", "8:0:00", "8:00:0", ":00:00", "٨:00:00",
    "-1:00:00", "8.00.00",
)  # fmt: skip
NUMBERS = st.text(st.sampled_from("0123456789.,-+:e x"), max_size=12)


def test_times_are_hours_minutes_and_perhaps_seconds():
    assert {text: parse_time_s(text) for text in (*TIMES, *NO_TIMES)} == TIMES | dict.fromkeys(NO_TIMES)


def test_integers_have_no_comma_which_may_separate_thousands():
    assert [parse_integer(text) for text in ("2,000", "1,0", "3.0")] == [None, None, 3]


@settings(deadline=None)
@given(st.lists(NUMBERS | st.integers().map(str) | st.from_regex(r"[0-9]{1,3}(:[0-6][0-9]){2}", fullmatch=True)))
@example([*TIMES, *NO_TIMES, "-0", "+1", "1.", "1.0", "1.5", "-", ".0", "٣", "1,0", "2,000", "0000000001"])
@example(["999999999", "1000000000"])
def test_the_kernel_reads_integers_and_times_as_the_slow_functions_do(texts):
    blob, starts, ends = spans_of(texts)
    block = Block(blob, starts[np.newaxis], ends[np.newaxis], np.arange(len(texts), dtype=np.int32))
    integers, faulty = block.read_integers(0, -7)
    integers[faulty] = -8

    for values, parse, empty, unreadable in (
        (integers, parse_integer, -7, -8), (block.read_times_s(0), parse_time_s, -1, -3)
    ):  # fmt: skip
        told = [parse(text) for text in texts]
        assert values.tolist() == [
            empty if not text else unreadable if value is None else value
            for text, value in zip(texts, told, strict=True)
        ]


@settings(deadline=None)
@given(
    st.lists(
        NUMBERS | st.decimals(-180, 180, places=9, allow_nan=False).map(str) | st.floats(-180, 180).map(repr),
        max_size=5,
    )
)
@example(["60.1", "-24,9", "+0", "0.0", "0.", ".5", "5.", ".", "-", "", "1e5", "nan", "60.123456789012345678"])
def test_the_kernel_reads_decimals_as_the_slow_function_does(texts):
    values = np.empty(len(texts), np.float64)
    parse_decimals(*spans_of(texts), values, True)

    for text, value in zip(texts, values.tolist(), strict=True):
        told = parse_decimal(text)
        digits = sum(map(str.isdigit, text.lstrip("-+0.,")))
        if told is None:
            assert math.isnan(value)
        elif digits <= 15:
            assert value == told
        else:
            assert value == pytest.approx(told, rel=1e-14)


@settings(deadline=None)
@given(st.lists(st.text(st.characters(categories=("L", "N")), max_size=5), max_size=200))
def test_the_row_of_an_id_is_the_number_of_ids_before_it(texts):
    index = IdIndex()
    table = table_of("".join(["id,x\n", *(f"{text},1\n" for text in texts)]).encode())
    rows = [row for block in table.read_blocks("id") for row in index.intern(block, 0).tolist()]

    others = list(dict.fromkeys(filter(None, texts)))
    assert rows == [others.index(text) if text else -1 for text in texts]
    assert list(index.to_texts()) == others


@settings(deadline=None)
@given(st.lists(st.text("ab", max_size=2), max_size=60), st.sets(st.text("ab", min_size=1, max_size=2)))
def test_ids_are_found_whatever_came_before_them(asked, known):
    index = IdIndex(sorted(known))
    data = "id,x\n" + "".join(f"{text},1\n" for text in asked)
    rows = [row for block in table_of(data.encode()).read_blocks("id") for row in index.find(block, 0).tolist()]

    told = {text: row for row, text in enumerate(sorted(known))} | {"": BLANK}
    assert rows == [told.get(text, UNKNOWN) for text in asked]


def test_an_iterator_stopped_half_way_leaves_no_thread():
    ahead = prefetch(iter(range(1, 100)), "left")
    next(ahead)
    ahead.close()

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("fingerpost-left")]
