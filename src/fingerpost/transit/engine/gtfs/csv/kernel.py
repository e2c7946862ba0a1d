"""Kernels that parse the bytes of GTFS tables: splitting rows, parsing numbers and times, and looking up ids.

A *span* is the start and end of a field in a block of bytes, excluding blanks and quotes. A line feed follows a
block's ``size`` bytes, so that no loop needs to check for the end of the block. All functions are in one file, because
numba's cache checks only the file that defines the compiled function.
"""

import numpy as np
from numba import njit

# No kernel creates an array, so numba needs no reference counting.
compiled = njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]  # an option that numba's stubs lack

BLANK = np.int32(-1)
UNREADABLE = np.int32(-3)
UNKNOWN = np.int32(-4)

# The maximum number of bytes in a quoted field; an opening quote that is not closed within this distance is stray.
FIELD_LIMIT = 65_536

_LF, _CR, _SPACE, _QUOTE = 10, 13, 32, 34
# Whether each byte is a comma, LF or CR.
_IS_DELIMITER = np.array([byte in b",\n\r" for byte in range(256)])
_UNCLOSED, _NEEDS_MORE = -1, -2
_MAX_HOUR_DIGITS = 3
# The length of the longest time without seconds, HH:MM.
SHORT_TIME_BYTES = 5


@compiled
def _find_closing_quote(blob, position, size, is_last):
    """Return the position of the closing quote, _UNCLOSED if there is none, or _NEEDS_MORE at the block's end.

    A quote that is neither doubled nor followed by the end of the field is part of the text. If such a quote seems to
    open a field on a later line, the opening quote is stray.
    """
    crosses_line = False
    cursor = position
    while True:
        if cursor >= size:
            return _UNCLOSED if is_last else _NEEDS_MORE
        if cursor - position > FIELD_LIMIT:
            return _UNCLOSED
        byte = blob[cursor]
        if byte == _QUOTE:
            if cursor + 1 >= size:
                return cursor if is_last else _NEEDS_MORE
            if blob[cursor + 1] == _QUOTE:
                cursor += 2
                continue
            following = cursor + 1
            while blob[following] <= _SPACE and not _IS_DELIMITER[blob[following]]:
                following += 1
            if following >= size and not is_last:
                return _NEEDS_MORE
            if _IS_DELIMITER[blob[following]]:
                return cursor
            if crosses_line and _IS_DELIMITER[blob[cursor - 1]]:
                return _UNCLOSED
        elif byte == _LF or byte == _CR:
            crosses_line = True
        cursor += 1


@compiled
def split_rows(blob, size, is_last, slots, starts, ends, lines, line, faults):
    """Split a block into rows; write the spans of the wanted columns and each row's line.

    ``blob`` holds the ``size`` bytes and a line feed; doubled quotes are unescaped in place. ``slots`` gives, for each
    column of the header, its row in ``starts`` and ``ends``, or -1 for unwanted columns; the capacity of these arrays
    limits the number of rows. If ``is_last``, no block follows, so a row without a line end is complete.

    ``faults`` receives (count, line of the first) for rows longer than the header, and for stray quotes.
    Returns (rows, bytes used, last line used).
    """
    capacity = starts.shape[1]
    width = len(slots)
    row, position = 0, 0
    while position < size and row < capacity:
        begin, row_line = position, line
        field, has_text, has_extra_fields, row_stray_quotes = 0, False, False, 0
        while True:
            while blob[position] <= _SPACE and not _IS_DELIMITER[blob[position]]:
                position += 1
            is_quoted = False
            start = end = position
            if blob[position] == _QUOTE:
                close = _find_closing_quote(blob, position + 1, size, is_last)
                if close == _NEEDS_MORE:
                    return row, begin, row_line
                if close == _UNCLOSED:
                    row_stray_quotes += 1
                else:
                    is_quoted = True
                    start = end = position + 1
                    cursor = start
                    while cursor < close:
                        byte = blob[cursor]
                        if byte == _LF or (byte == _CR and blob[cursor + 1] != _LF):
                            line += 1
                        if byte == _QUOTE and blob[cursor + 1] == _QUOTE and cursor + 1 < close:
                            cursor += 1
                        blob[end] = byte
                        end += 1
                        cursor += 1
                    position = close + 1
                    while blob[position] <= _SPACE and not _IS_DELIMITER[blob[position]]:
                        position += 1
                    while start < end and blob[start] <= _SPACE:
                        start += 1
            if not is_quoted:
                while not _IS_DELIMITER[blob[position]]:
                    position += 1
                end = position
            while end > start and blob[end - 1] <= _SPACE:
                end -= 1
            if position >= size and not is_last:
                return row, begin, row_line
            if end > start:
                has_text = True
                has_extra_fields = has_extra_fields or field >= width
            if field < width and slots[field] >= 0:
                starts[slots[field], row] = start
                ends[slots[field], row] = end
            field += 1
            delimiter = blob[position]
            position += 1
            if delimiter == _LF or delimiter == _CR:
                break
        if delimiter == _CR:
            if position >= size and not is_last:
                return row, begin, row_line
            if position < size and blob[position] == _LF:
                position += 1
        line += 1
        if not has_text:
            continue
        for missing in range(field, width):
            if slots[missing] >= 0:
                starts[slots[missing], row] = 0
                ends[slots[missing], row] = 0
        for fault, count in enumerate((int(has_extra_fields), row_stray_quotes)):
            if count and not faults[fault, 0]:
                faults[fault, 1] = line
            faults[fault, 0] += count
        lines[row] = line
        row += 1
    return row, min(position, size), line


@compiled
def parse_times(blob, starts, ends, out):
    """Convert H:MM:SS or H:MM times to seconds (hours past 24 are allowed); write BLANK or UNREADABLE for others."""
    for row in range(len(starts)):
        position, end = starts[row], ends[row]
        if position == end:
            out[row] = BLANK
            continue
        pairs = 1 if end - position <= SHORT_TIME_BYTES else 2
        hours_end = end - 3 * pairs
        is_time = 0 < hours_end - position <= _MAX_HOUR_DIGITS
        if is_time:
            value = np.int32(0)
            for cursor in range(position, hours_end):
                is_time = is_time and 48 <= blob[cursor] <= 57
                value = value * 10 + (blob[cursor] - 48)
            for colon in range(hours_end, end, 3):
                is_time = is_time and blob[colon] == 58 and 48 <= blob[colon + 1] <= 53 and 48 <= blob[colon + 2] <= 57
                value = value * 60 + (blob[colon + 1] - 48) * 10 + (blob[colon + 2] - 48)
            out[row] = value if pairs == 2 else value * 60
        if not is_time:
            out[row] = UNREADABLE


@compiled
def parse_decimals(blob, starts, ends, out, allows_comma):
    """Parse decimal numbers; write NaN for empty or unreadable fields, including numbers with exponents.

    A decimal comma is accepted only if ``allows_comma``, because commas in integers separate thousands.
    """
    for row in range(len(starts)):
        position, end = starts[row], ends[row]
        out[row] = np.nan
        is_negative = position < end and blob[position] == 45
        if is_negative or (position < end and blob[position] == 43):
            position += 1
        value, scale, digits, has_point, has_digits = 0.0, 1.0, 0, False, False
        while position < end:
            byte = blob[position]
            if 48 <= byte <= 57:
                has_digits = True
                # Digits past the fifteenth exceed the precision.
                if digits < 15:
                    value = value * 10.0 + (byte - 48)
                    if has_point:
                        scale *= 10.0
                    if value > 0.0:
                        digits += 1
                elif not has_point:
                    value = np.inf
            elif (byte == 46 or (byte == 44 and allows_comma)) and not has_point:
                has_point = True
            else:
                break
            position += 1
        if position == end and has_digits:
            out[row] = -value / scale if is_negative else value / scale


@compiled
def _hash(blob, start, end):
    value = np.uint64(14695981039346656037)
    for position in range(start, end):
        value = (value ^ np.uint64(blob[position])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@compiled
def _is_same(blob, start, end, keys, key_start, key_end):
    if end - start != key_end - key_start:
        return False
    for step in range(end - start):
        if blob[start + step] != keys[key_start + step]:
            return False
    return True


@compiled
def look_up_ids(blob, starts, ends, keys, offsets, slots, count, is_adding, out):
    """Write the row of each id, or BLANK for empty fields; return the number of ids in the index.

    New ids are added if ``is_adding``, and yield UNKNOWN otherwise; the arrays of the index must have room for them.
    """
    mask = np.uint64(len(slots) - 1)
    previous = np.int32(-1)
    for row in range(len(starts)):
        start, end = starts[row], ends[row]
        if start == end:
            out[row] = BLANK
            continue
        if previous >= 0 and _is_same(blob, start, end, keys, offsets[previous], offsets[previous + 1]):
            out[row] = previous
            continue
        slot = _hash(blob, start, end) & mask
        found = UNKNOWN
        while slots[slot] >= 0:
            candidate = slots[slot]
            if _is_same(blob, start, end, keys, offsets[candidate], offsets[candidate + 1]):
                found = candidate
                break
            slot = (slot + np.uint64(1)) & mask
        if found == UNKNOWN and is_adding:
            used = offsets[count]
            for step in range(end - start):
                keys[used + step] = blob[start + step]
            offsets[count + 1] = used + end - start
            slots[slot] = found = np.int32(count)
            count += 1
        out[row] = found
        previous = found
    return count
