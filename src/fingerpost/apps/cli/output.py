"""Terminal output: answers on stdout, messages on stderr, and errors that name commands and options."""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from unicodedata import category

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from fingerpost.errors import ParameterError, RemedyKind, SourceLimited, ToolError, as_sentence

# The option or argument for each tool field. Commands add the options that are named after their fields.
OPTIONS: dict[str, str] = {
    "constraints.maxWalkingDistance": "--max-walk",
    "constraints.language": "--lang",
    "coordinate.lat": "LAT",
    "coordinate.lon": "LON",
    "destination.value": "TO",
    "language": "--lang",
    "languagePreference": "--lang",
    "maxDepartures": "--limit",
    "maxResults": "--limit",
    "item": "ITEM",
    "origin.value": "FROM",
    "page": "--page",
    "rawText": "the name",
    "stop.value": "STOP",
    "walkFrom": "--from",
    "when.time": "the time",
    "when.type": "--arrive",
    "windowMinutes": "--window",
}

_CHOOSE_CANDIDATE = "Choose a candidate and write its id instead"

REMEDIES: Mapping[RemedyKind, str] = {
    RemedyKind.ADVICE: "{text}",
    RemedyKind.LOOSEN_LIMITS: "Try a larger --max-walk, or another time",
    RemedyKind.LOOK_UP_PLACE: "Look the place up with `fingerpost find NAME`, or write its position as lat,lon",
    RemedyKind.LOOK_UP_STOP: "Look the stop up with `fingerpost find NAME` or `fingerpost stops LAT LON`",
    RemedyKind.SEARCH_NEARBY: "Check the spelling, or list the stops near a point with `fingerpost stops LAT LON`",
    RemedyKind.SEARCH_FARTHER: "Choose a closer place",
    RemedyKind.SAVE_PLACE: (
        "Look the place up with `fingerpost find NAME` and write its lat,lon,"
        " or save it with `fingerpost vars set NAME PLACE`"
    ),
    RemedyKind.SAVE_AGAIN: "Save it again with `fingerpost vars set NAME PLACE`",
    RemedyKind.USE_CANDIDATE: _CHOOSE_CANDIDATE,
    RemedyKind.SEND_CANDIDATE: _CHOOSE_CANDIDATE,
    RemedyKind.CONFIRM_CANDIDATE: "If you mean {name}, write its id instead; otherwise spell it differently",
    RemedyKind.SEND_PARAMETER_VALUE: _CHOOSE_CANDIDATE,
    RemedyKind.SET_KEY: "Set {settings} to a key that this source accepts",
    RemedyKind.ADD_KEY: (
        'Store the key in an environment variable and name the variable: `key = "VARIABLE"` in the network\'s record,'
        " which `fingerpost network show NAME` locates, or write ${{VARIABLE}} in a feed's URL"
    ),
    RemedyKind.START_FROM_RUN: "Start a new run from its results: `fingerpost run PLAN.json --memory-of RUN`",
    RemedyKind.END_A_RUN: "Wait for a run to end, or cancel a run: `fingerpost runs cancel RUN`",
}

_MAX_SHOWN_SECONDS = 120


def describe_error(error: ToolError) -> list[str]:
    """Return the lines of an error: its message, what to do, how long to wait, and the candidates."""
    lines = [_format_message(error)]
    if error.remedy is not None:
        attribution = error.details.get("attribution")
        data = f". Data: {'; '.join(attribution)}" if attribution else ""
        lines.append(f"{REMEDIES[error.remedy.kind].format_map(error.remedy.values)}{data}")
    if isinstance(error, SourceLimited):
        # Round up, so that people do not retry too early.
        wait_s = math.ceil(max(0.0, error.retry_after_s))
        pause = f"{wait_s} s" if wait_s <= _MAX_SHOWN_SECONDS else f"{math.ceil(wait_s / 60)} min"
        lines.append(f"Try again in {pause}")
    sentences = [_capitalize(as_sentence(line)) for line in lines]
    return sentences + [_describe_candidate(candidate) for candidate in error.details.get("candidates", ())]


def _format_message(error: ToolError) -> str:
    problems = error.problems if isinstance(error, ParameterError) else ()
    sentences = [
        f"{OPTIONS[problem.field]}{problem.predicate}"
        if problem.predicate and problem.field in OPTIONS
        else problem.sentence
        for problem in problems
    ]
    return "; ".join(dict.fromkeys(sentences)) or error.message


def _describe_candidate(candidate: dict[str, str]) -> str:
    # A local import, because a global one would slow --help down.
    from fingerpost.contract.envelope import format_distinction

    distinction = format_distinction(candidate)
    return f"  {candidate['token']}  {candidate['name']}{f' ({distinction})' if distinction else ''}"


def _capitalize(text: str) -> str:
    first = text.partition(" ")[0]
    # Do not capitalize field names and file names.
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


class _SafeConsole(Console):
    """A console that replaces control characters in text, and does not crop lines.

    Characters outside the terminal's encoding become question marks.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*objects, **{"crop": False, **options})

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render, and clean the text of all segments except rich's control segments."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=self._clean(segment.text))

    def _clean(self, text: str) -> str:
        if not text.isprintable():
            text = "\n".join(map(strip_control_characters, text.split("\n")))
        return text if text.isascii() else text.encode(self.encoding, "replace").decode(self.encoding)


def new_console(*, stderr: bool = False) -> Console:
    """Return a console without markup; rich disables color if output is piped or NO_COLOR is set."""
    return _SafeConsole(stderr=stderr, markup=False, emoji=False, highlight=False)


def show_status(message: str) -> Status:
    """Show a status line on a terminal while the block runs; the block must not print to stdout."""
    return new_console(stderr=True).status(Text(message))


def print_line(text: RenderableType) -> None:
    new_console().print(text, soft_wrap=True)


def print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print_line(line)


def print_answer(text: str, *, stderr: bool = False) -> None:
    """Print the text of a tool's answer, with styles on a terminal."""
    console = new_console(stderr=stderr)
    title, *lines = text.split("\n")
    for line in (Text(title, "bold"), *(Text(line, _find_style(line)) for line in lines)):
        console.print(line, soft_wrap=not console.is_terminal)


def _find_style(line: str) -> str:
    if line.startswith("! "):
        return "yellow"
    if line.startswith("Data: "):
        return "dim"
    if " CANCELLED" in line:
        return "bold red"
    if " delayed " in line:
        return "yellow"
    return "bold" if line.partition(". ")[0].isdecimal() else ""


def print_json(body: dict[str, Any]) -> None:
    """Print an envelope as one line on stdout, in UTF-8, even if the terminal uses another encoding."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # UTF-8 cannot encode a lone surrogate from the caller's JSON; its escape sequence is equivalent JSON.
    typer.echo(text.encode(errors="backslashreplace"))


def print_error(error: ToolError) -> None:
    print_message("\n".join(map(strip_control_characters, describe_error(error))))


def print_message(text: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    typer.echo(text.encode(encoding, "replace").decode(encoding), err=True)


def strip_control_characters(text: str) -> str:
    """Replace control characters, so that the text is safe to print on one line of a terminal."""
    return "".join(" " if char in "\r\n\t" else "\ufffd" if category(char) in ("Cc", "Cs") else char for char in text)
