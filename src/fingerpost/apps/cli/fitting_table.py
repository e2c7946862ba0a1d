"""Tables that fit a terminal of any width without cutting a word, an id or a number."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Column, Table
from rich.text import Text

from fingerpost.apps.cli.output import plain

_BETWEEN = "  "
_INDENT = "  "
# What a line begins with is not parted from its first word.
_WORD = re.compile(r"^\s*\S+|\S+")


class FittingTable(Table):
    """A table that wraps between words where it is too wide, and where a word would be cut has a line a row."""

    def add_row(self, *cells: RenderableType | None, **how: Any) -> None:
        """Add a row; a control character, which may be as wide as where it happens to stand, is replaced."""
        super().add_row(*(_cleaned(cell) for cell in cells), **how)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render as a table if every word fits, else as lines."""
        spans = [_measure(column) for column in self.columns]
        around = self._extra_width + (len(spans) - 1) * sum(self.padding[1::2])
        room = options.max_width - around - sum(least for least, _ in spans)
        if room < 0:
            yield from self._list_lines(console, options.max_width)
            return
        for column, width in zip(self.columns, _share(spans, room), strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)

    def _list_lines(self, console: Console, width: int) -> Iterator[Text]:
        heads = [Text(str(column.header), "dim") for column in self.columns]
        for cells in (heads, *zip(*(map(_text, column.cells) for column in self.columns), strict=True)):
            lines = Text(_BETWEEN).join(cell for cell in cells if cell.plain.strip()).wrap(console, width)
            yield lines[0]
            rest = Text(" ").join(lines[1:])
            for line in rest.wrap(console, max(1, width - len(_INDENT))) if len(lines) > 1 else ():
                yield Text(_INDENT).append_text(line)


def new_table(*columns: str) -> FittingTable:
    """Return an empty table in the style of all tables here: only the header is underlined."""
    table = FittingTable(*columns, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    table.columns[0].no_wrap = True
    return table


def _measure(column: Column) -> tuple[int, int]:
    """Return the widths of a column's longest word and of its longest cell."""
    lines = [line for cell in (column.header, *column.cells) for line in _text(cell).plain.splitlines() or [""]]
    whole = max(map(cell_len, lines))
    word = max((cell_len(each) for line in lines for each in _WORD.findall(line)), default=0)
    return whole if column.no_wrap else word, whole


def _share(spans: Sequence[tuple[int, int]], room: int) -> list[int]:
    """Return the widths of columns: what each needs, and its part of the room, the same for each that wants it."""
    widths = [least for least, _ in spans]
    while room > 0:
        wanting = [at for at, (_, whole) in enumerate(spans) if widths[at] < whole][:room]
        if not wanting:
            break
        for at in wanting:
            widths[at] += 1
        room -= len(wanting)
    return widths


def _cleaned(cell: RenderableType | None) -> RenderableType | None:
    if not isinstance(cell, (str, Text)):
        return cell
    written = _text(cell)
    clean = "\n".join(map(plain, written.plain.split("\n")))
    return cell if clean == written.plain else Text(clean, written.style)


def _text(cell: object) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))
