"""The text of ``fingerpost.toml``, taken apart so that a mistake in one record leaves the others readable."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

NETWORKS = "networks"

_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
# A header whose bracket is missing still begins a record.
_CUT_OFF = re.compile(r"\s*\[\s*networks\s*\.\s*([A-Za-z0-9_-]+)\s*(?:#.*)?$")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class TextProblem(NamedTuple):
    """What is wrong with the text itself: a sentence's part, and the line."""

    what: str
    line: int


class Section(NamedTuple):
    """The lines of one table with its header; ``path`` is empty for what stands before the first header.

    ``first`` and ``last`` count lines from 0; ``last`` is the first line after the section.
    """

    path: tuple[str, ...]
    first: int
    last: int

    @property
    def name(self) -> str | None:
        """The network whose record this is."""
        return self.path[1] if len(self.path) > 1 and self.path[0] == NETWORKS else None


@dataclass(frozen=True, slots=True)
class Document:
    """The tables of the file that can be read.

    Attributes:
        tables: by name, each record as it is written.
        broken: by name, what is wrong with a record that cannot be read.
        rest: what is wrong outside the records.
    """

    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    broken: dict[str, TextProblem] = field(default_factory=dict)
    rest: list[TextProblem] = field(default_factory=list)


def is_toml(text: str) -> bool:
    """Whether a text is TOML as a whole."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def decode(content: bytes) -> str:
    """Return the file's text, a mark of byte order left out; bytes that are not UTF-8 stay as lone surrogates."""
    return content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")


def read_document(text: str) -> Document:
    """Return the records of a text. Where it is no TOML as a whole, each table is read alone."""
    document = Document()
    try:
        if not _NOT_UTF8.search(text):
            _take(document, tomllib.loads(text), text)
            return document
    except tomllib.TOMLDecodeError:
        pass
    lines = split_lines(text)
    declared: dict[tuple[str, ...], int] = {}
    for section in list_sections(lines):
        problem = _read_section(document, text, section, declared)
        if problem is not None and section.name is None:
            document.rest.append(problem)
        elif problem is not None and section.name is not None:
            document.broken.setdefault(section.name, problem)
    for name in document.broken:
        document.tables.pop(name, None)
    return document


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends, as TOML counts them."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def list_sections(lines: list[str]) -> list[Section]:
    """Return the tables of a text in order, by their headers."""
    starts: list[tuple[tuple[str, ...], int]] = [((), 0)]
    for number, line in enumerate(lines):
        cut_off = _CUT_OFF.match(line)
        path = _read_header(line) or ((NETWORKS, cut_off[1]) if cut_off else ())
        if path:
            starts.append((path, number))
    ends = [number for _, number in starts[1:]] + [len(lines)]
    return [Section(path, first, last) for (path, first), last in zip(starts, ends, strict=True)]


def find_line(text: str, *path: str) -> int:
    """Return the line, from 1, where a key or a table stands, else the nearest that holds it."""
    found = dict(_list_keys(text))
    for length in range(len(path), 0, -1):
        if path[:length] in found:
            return found[path[:length]]
    return 1


def _read_section(
    document: Document, text: str, section: Section, declared: dict[tuple[str, ...], int]
) -> TextProblem | None:
    """Read one table into the document; return what is wrong with it."""
    piece = "".join(split_lines(text)[section.first : section.last])
    wrong = _NOT_UTF8.search(piece)
    if wrong is not None:
        return TextProblem("this is not UTF-8", section.first + piece.count("\n", 0, wrong.start()) + 1)
    try:
        read = tomllib.loads(piece)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else piece.rstrip("\n").count("\n") + 1
        what = _PLACE.sub("", str(error))
        return TextProblem(f"this is no TOML ({what[:1].lower()}{what[1:]})", section.first + line)
    if section.path and declared.setdefault(section.path, section.first) != section.first:
        return TextProblem(
            f"[{'.'.join(section.path)}] stands here a second time, after line {declared[section.path] + 1}",
            section.first + 1,
        )
    _take(document, read, text)
    return None


def _take(document: Document, read: Mapping[str, Any], text: str) -> None:
    """Take over what was read."""
    for key, value in read.items():
        if key != NETWORKS:
            document.rest.append(
                TextProblem(f"there is no setting `{key}`, only tables [networks.NAME]", find_line(text, key))
            )
        elif not isinstance(value, dict):
            document.rest.append(TextProblem("`networks` is no table [networks.NAME]", find_line(text, key)))
        else:
            for name, table in value.items():
                if isinstance(table, dict):
                    document.tables.setdefault(name, {}).update(table)
                else:
                    document.broken[name] = TextProblem(f"[networks.{name}] is no table", find_line(text, key, name))


def _list_keys(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the path of every key and table with its line, the first occurrence last."""
    table: tuple[str, ...] = ()
    found = []
    for number, line in enumerate(split_lines(text), 1):
        header = _read_header(line)
        if header:
            table = header
            found += [(table[:length], number) for length in range(1, len(table) + 1)]
            continue
        key, equals, _ = line.partition("=")
        path = _read_path(f"{key}=0") if equals else ()
        found += [((*table, *path[:length]), number) for length in range(1, len(path) + 1)]
    yield from reversed(found)


def _read_header(line: str) -> tuple[str, ...]:
    return _read_path(line) if line.lstrip().startswith("[") else ()


def _read_path(text: str) -> tuple[str, ...]:
    """Return the keys that a line of TOML leads through; empty where it is none."""
    try:
        inner: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return ()
    path = []
    while isinstance(inner, (dict, list)) and inner:
        if isinstance(inner, dict):
            key, inner = next(iter(inner.items()))
            path.append(key)
        else:
            inner = inner[0]
    return tuple(path)
