"""Terminal output: JSON on stdout, messages on stderr."""

import json
import sys
from collections.abc import Iterator
from typing import Any
from unicodedata import category

import typer
from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from fingerpost.apps.cli.pauses import say_pause
from fingerpost.apps.cli.refused_keys import say_whose_key
from fingerpost.apps.cli.terminal_words import in_terminal_words
from fingerpost.apps.cli.waiting import make_way
from fingerpost.errors import PlaceAmbiguous, SourceKeyRefused, ToolError


class _ClearedConsole(Console):
    """A console that erases the sign of life before it prints, and prints no control characters of others.

    What the terminal's encoding has no character for is a question mark.
    """

    def print(self, *objects: Any, **how: Any) -> None:
        """Print as rich does."""
        make_way()
        super().print(*objects, **how)

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render as rich does, and make the texts fit to be written; rich's own segments of control stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=self._fit(segment.text))

    def _fit(self, text: str) -> str:
        if not text.isprintable():
            text = "\n".join(plain(line) for line in text.split("\n"))
        return text if text.isascii() else text.encode(self.encoding, "replace").decode(self.encoding)


def new_console(*, stderr: bool = False) -> Console:
    """Return a console that prints names as they are; rich leaves colour out of pipes and where NO_COLOR is set."""
    return _ClearedConsole(stderr=stderr, markup=False, emoji=False, highlight=False)


def print_text(text: str | bytes) -> None:
    """Print some text on stdout as it is."""
    make_way()
    typer.echo(text)


def print_json(body: dict[str, Any]) -> None:
    """Print an envelope on one line of stdout, in UTF-8 whatever the terminal says."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        line = text.encode()
    except UnicodeEncodeError:
        # A lone surrogate from the caller's own JSON has no UTF-8; its escape is the same JSON.
        line = json.dumps(body, separators=(",", ":")).encode()
    print_text(line)


def complain(error: ToolError) -> None:
    """Print an error with its hint and its candidates on stderr, in a person's words."""
    lines = [_sentence(in_terminal_words(error.message))]
    hint = None if error.hint is None else in_terminal_words(error.hint)
    listed: list[str] = []
    if isinstance(error, PlaceAmbiguous):
        # Here: what tells candidates apart is not needed for --help.
        from fingerpost.apps.cli.choices import list_candidates, say_what_to_type

        hint, listed = say_what_to_type(error), list_candidates(error)
    elif isinstance(error, SourceKeyRefused):
        hint = in_terminal_words(say_whose_key(error) or "")
    if hint:
        lines.append(_sentence(hint))
    pause = say_pause(error)
    if pause is not None:
        lines.append(_sentence(pause))
    say("\n".join(map(plain, [*lines, *listed])))


def say(text: str) -> None:
    """Print a message on stderr."""
    make_way()
    encoding = sys.stderr.encoding or "utf-8"
    typer.echo(text.encode(encoding, "replace").decode(encoding), err=True)


def plain(text: str) -> str:
    """Return foreign text without control characters, safe to print on one line of a terminal."""
    return "".join(" " if each in "\r\n\t" else "\ufffd" if category(each) in ("Cc", "Cs") else each for each in text)


def _sentence(text: str) -> str:
    first = text.partition(" ")[0]
    # A field's or a file's name stays as it is spelt.
    capital = text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
    return capital if capital.endswith((".", "!", "?")) else f"{capital}."
