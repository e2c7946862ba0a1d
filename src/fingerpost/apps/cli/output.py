"""Terminal output: answers on stdout, messages on stderr."""

import json
import sys
from collections.abc import Iterator
from typing import Any
from unicodedata import category

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from fingerpost.apps.cli.error_texts import describe_error
from fingerpost.errors import ToolError


class _SafeConsole(Console):
    """A console that prints no control characters of others, and cuts no line.

    Characters that the terminal's encoding lacks become question marks.
    """

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*objects, **{"crop": False, **how})

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render as rich does, and clean the texts; rich's own control segments stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=self._fit(segment.text))

    def _fit(self, text: str) -> str:
        if not text.isprintable():
            text = "\n".join(map(plain, text.split("\n")))
        return text if text.isascii() else text.encode(self.encoding, "replace").decode(self.encoding)


def new_console(*, stderr: bool = False) -> Console:
    """Return a console that prints names as they are; rich leaves colour out of pipes and where NO_COLOR is set."""
    return _SafeConsole(stderr=stderr, markup=False, emoji=False, highlight=False)


def showing_work(what: str) -> Status:
    """Show the current work on a terminal while the block runs; nothing else may print to stdout meanwhile."""
    return new_console(stderr=True).status(Text(what))


def print_line(text: RenderableType) -> None:
    new_console().print(text, soft_wrap=True)


def print_answer(text: str, *, stderr: bool = False) -> None:
    """Print a tool's own text."""
    console = new_console(stderr=stderr)
    first, *rest = text.split("\n")
    for line in (Text(first, "bold"), *(Text(line, _find_style(line)) for line in rest)):
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
    """Print an envelope on one line of stdout, in UTF-8, even if the terminal has another encoding."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate from the caller's own JSON has no UTF-8; its escape is the same JSON.
    typer.echo(text.encode(errors="backslashreplace"))


def print_error(error: ToolError) -> None:
    print_message("\n".join(map(plain, describe_error(error))))


def print_message(text: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    typer.echo(text.encode(encoding, "replace").decode(encoding), err=True)


def plain(text: str) -> str:
    """Return foreign text without control characters, safe to print on one line of a terminal."""
    return "".join(" " if each in "\r\n\t" else "\ufffd" if category(each) in ("Cc", "Cs") else each for each in text)
