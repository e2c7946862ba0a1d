"""Kernels that parse the bytes of GTFS tables: splitting rows, parsing numbers and times, finding ids.

A *span* is the start and end of a field in a block of bytes, without blanks and quotes. A block has a line feed after
its ``size`` bytes, so that no loop needs to check for its end. All functions are in one file, because numba's cache
checks the file of the compiled function only.
"""

import numpy as np
from numba import njit

# No kernel creates an array, so numba needs no reference counting.
looping = njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]  # an option that numba's stubs lack

BLANK = np.int32(-1)
UNREADABLE = np.int32(-3)
UNKNOWN = np.int32(-4)

# Bytes of a quoted field; the quote of a longer one counts as stray.
FIELD_LIMIT = 65_536

_LF, _CR, _TAB, _SPACE, _QUOTE = 10, 13, 9, 32, 34
_UNCLOSED, _NEEDS_MORE = -1, -2
_HOUR_DIGITS = 3
# Bytes of the longest time without seconds, HH:MM.
SHORT_TIME_BYTES = 5
_INTEGER_DIGITS = 9


@looping
def _closing_quote(blob, at, size, is_last, stops):
    """Return the position of the quote that ends a quoted field, _UNCLOSED, or _NEEDS_MORE if more bytes decide.

    A quote inside that is neither doubled nor followed by the field's end is part of the text. If it looks like the
    start of another field on a later line, the first quote was stray.
    """
    crossed = False
    here = at
    while True:
        if here >= size:
            return _UNCLOSED if is_last else _NEEDS_MORE
        if here - at > FIELD_LIMIT:
            return _UNCLOSED
        byte = blob[here]
        if byte == _QUOTE:
            if here + 1 >= size:
                return here if is_last else _NEEDS_MORE
            if blob[here + 1] == _QUOTE:
                here += 2
                continue
            after = here + 1
            while blob[after] <= _SPACE and not stops[blob[after]]:
                after += 1
            if after >= size and not is_last:
                return _NEEDS_MORE
            if stops[blob[after]]:
                return here
            if crossed and stops[blob[here - 1]]:
                return _UNCLOSED
        elif byte == _LF or byte == _CR:
            crossed = True
        here += 1


@looping
def split_rows(blob, size, is_last, stops, wanted, starts, ends, lines, line):
    """Split a block into rows; write the spans of the wanted columns and each row's line.

    ``blob`` is the block of ``size`` bytes and a line feed; doubled quotes are made single in place. ``stops`` marks
    the delimiter, CR and LF among the 256 bytes. ``wanted`` is the row in ``starts`` and ``ends`` of each column of the
    header, or -1; as many rows are split as fit there. ``is_last``: no block follows, so a row without a line end is
    complete.

    Returns (rows, bytes used, last line used, rows longer than the header, first line of those, stray quotes, first
    line of those).
    """
    capacity = starts.shape[1]
    width = len(wanted)
    row, at = 0, 0
    uneven, uneven_line, stray, stray_line = 0, 0, 0, 0
    while at < size and row < capacity:
        begin, row_line = at, line
        field, filled, beyond, strays_here = 0, False, False, 0
        while True:
            while blob[at] <= _SPACE and not stops[blob[at]]:
                at += 1
            quoted = False
            start = end = at
            if blob[at] == _QUOTE:
                close = _closing_quote(blob, at + 1, size, is_last, stops)
                if close == _NEEDS_MORE:
                    return row, begin, row_line, uneven, uneven_line, stray, stray_line
                if close == _UNCLOSED:
                    strays_here += 1
                else:
                    quoted = True
                    start = end = at + 1
                    here = start
                    while here < close:
                        byte = blob[here]
                        if byte == _LF or (byte == _CR and blob[here + 1] != _LF):
                            line += 1
                        if byte == _QUOTE and blob[here + 1] == _QUOTE and here + 1 < close:
                            here += 1
                        blob[end] = byte
                        end += 1
                        here += 1
                    at = close + 1
                    while blob[at] <= _SPACE and not stops[blob[at]]:
                        at += 1
                    while start < end and blob[start] <= _SPACE:
                        start += 1
            if not quoted:
                while not stops[blob[at]]:
                    at += 1
                end = at
            while end > start and blob[end - 1] <= _SPACE:
                end -= 1
            if at >= size and not is_last:
                return row, begin, row_line, uneven, uneven_line, stray, stray_line
            if end > start:
                filled = True
                beyond = beyond or field >= width
            if field < width and wanted[field] >= 0:
                starts[wanted[field], row] = start
                ends[wanted[field], row] = end
            field += 1
            stop = blob[at]
            at += 1
            if stop == _LF or stop == _CR:
                break
        if stop == _CR:
            if at >= size and not is_last:
                return row, begin, row_line, uneven, uneven_line, stray, stray_line
            if at < size and blob[at] == _LF:
                at += 1
        line += 1
        if not filled:
            continue
        for missing in range(field, width):
            if wanted[missing] >= 0:
                starts[wanted[missing], row] = 0
                ends[wanted[missing], row] = 0
        if beyond:
            if not uneven:
                uneven_line = line
            uneven += 1
        if strays_here:
            if not stray:
                stray_line = line
            stray += strays_here
        lines[row] = line
        row += 1
    return row, min(at, size), line, uneven, uneven_line, stray, stray_line


@looping
def parse_integers(blob, starts, ends, empty, out):
    """Write whole numbers of at most nine digits, ``empty`` for empty fields, the smallest int32 if unreadable.

    A fraction of zeros is allowed, because spreadsheets write one.
    """
    for row in range(len(starts)):
        at, end = starts[row], ends[row]
        if at == end:
            out[row] = empty
            continue
        negative = blob[at] == 45
        if negative or blob[at] == 43:
            at += 1
        value, digits = np.int64(0), 0
        while at < end and 48 <= blob[at] <= 57 and digits <= _INTEGER_DIGITS:
            value = value * 10 + (blob[at] - 48)
            digits += 1
            at += 1
        if at < end and blob[at] == 46 and digits:
            at += 1
            while at < end and blob[at] == 48:
                at += 1
        if at != end or not 0 < digits <= _INTEGER_DIGITS:
            out[row] = -2147483648
        else:
            out[row] = -value if negative else value


@looping
def parse_times(blob, starts, ends, out):
    """Write seconds of H:MM:SS or H:MM (hours past 24 allowed), BLANK or UNREADABLE."""
    for row in range(len(starts)):
        at, end = starts[row], ends[row]
        if at == end:
            out[row] = BLANK
            continue
        pairs = 1 if end - at <= SHORT_TIME_BYTES else 2
        hours_end = end - 3 * pairs
        good = 0 < hours_end - at <= _HOUR_DIGITS
        if good:
            value = np.int32(0)
            for here in range(at, hours_end):
                good = good and 48 <= blob[here] <= 57
                value = value * 10 + (blob[here] - 48)
            for colon in range(hours_end, end, 3):
                good = good and blob[colon] == 58 and 48 <= blob[colon + 1] <= 53 and 48 <= blob[colon + 2] <= 57
                value = value * 60 + (blob[colon + 1] - 48) * 10 + (blob[colon + 2] - 48)
            out[row] = value if pairs == 2 else value * 60
        if not good:
            out[row] = UNREADABLE


@looping
def parse_decimals(blob, starts, ends, out):
    """Write decimal numbers, NaN if empty or unreadable. The point may be a comma; exponents are unreadable."""
    for row in range(len(starts)):
        at, end = starts[row], ends[row]
        out[row] = np.nan
        negative = at < end and blob[at] == 45
        if negative or (at < end and blob[at] == 43):
            at += 1
        value, places, digits, dotted, has_digits = 0.0, 1.0, 0, False, False
        while at < end:
            byte = blob[at]
            if 48 <= byte <= 57:
                has_digits = True
                # Digits past the fifteenth exceed the precision.
                if digits < 15:
                    value = value * 10.0 + (byte - 48)
                    if dotted:
                        places *= 10.0
                    if value > 0.0:
                        digits += 1
                elif not dotted:
                    value = np.inf
            elif (byte == 46 or byte == 44) and not dotted:
                dotted = True
            else:
                break
            at += 1
        if at == end and has_digits:
            out[row] = -value / places if negative else value / places


@looping
def _hash(blob, start, end):
    value = np.uint64(14695981039346656037)
    for at in range(start, end):
        value = (value ^ np.uint64(blob[at])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@looping
def _same(blob, start, end, keys, key_start, key_end):
    if end - start != key_end - key_start:
        return False
    for step in range(end - start):
        if blob[start + step] != keys[key_start + step]:
            return False
    return True


@looping
def look_up_ids(blob, starts, ends, keys, offsets, slots, after, count, begin, is_adding, out):
    """Write the row of each id from ``begin`` on, BLANK if it is empty; return (ids in the index, next row).

    New ids are UNKNOWN or, if ``is_adding``, are added until the index is full. ``after`` stores the row last found
    after each row, -1 for none, because trips share sequences of stops; it is not used while adding.
    """
    mask = np.uint64(len(slots) - 1)
    previous = np.int32(-1)
    for row in range(begin, len(starts)):
        start, end = starts[row], ends[row]
        if start == end:
            out[row] = BLANK
            continue
        if previous >= 0 and _same(blob, start, end, keys, offsets[previous], offsets[previous + 1]):
            out[row] = previous
            continue
        if previous >= 0 and not is_adding:
            guess = after[previous]
            if guess >= 0 and _same(blob, start, end, keys, offsets[guess], offsets[guess + 1]):
                out[row] = guess
                previous = guess
                continue
        slot = _hash(blob, start, end) & mask
        found = UNKNOWN
        while slots[slot] >= 0:
            candidate = slots[slot]
            if _same(blob, start, end, keys, offsets[candidate], offsets[candidate + 1]):
                found = candidate
                break
            slot = (slot + np.uint64(1)) & mask
        if found == UNKNOWN and is_adding:
            used = offsets[count]
            if 2 * (count + 1) > len(slots) or count + 2 > len(offsets) or used + end - start > len(keys):
                return count, row
            for step in range(end - start):
                keys[used + step] = blob[start + step]
            offsets[count + 1] = used + end - start
            slots[slot] = found = np.int32(count)
            count += 1
        out[row] = found
        if previous >= 0 and not is_adding:
            after[previous] = found
        previous = found
    return count, len(starts)


@looping
def refill(keys, offsets, count, slots):
    """Enter all ids of an index into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for row in range(count):
        slot = _hash(keys, offsets[row], offsets[row + 1]) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = row
