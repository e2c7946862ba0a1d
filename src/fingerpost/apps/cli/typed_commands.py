"""Commands of ours as a person types them, and the lines that offer them."""

import shlex
import sys
from collections.abc import Mapping

from rich.console import Console
from rich.text import Text


def typed(*words: str) -> str:
    """Return a command line of ours, quoted for a POSIX shell."""
    return shlex.join(["fingerpost", *words])


def type_again(text: str, instead: str, *, side: str = "") -> str | None:
    """Return the command line that was typed with another word in place of one, None where that is no word of it.

    ``side`` tells an origin, which stands first, from a destination of the same text.
    """
    words = sys.argv[1:]
    # The first word is the command, which a place may be called like.
    found = [at for at, word in enumerate(words) if at > 0 and word == text]
    if not found:
        return None
    words[found[0] if side in ("origin", "from") else found[-1]] = instead
    return typed(*words)


def print_more(console: Console, commands: Mapping[str, str]) -> None:
    """Print what to type for more, one line a command, each behind its word."""
    for word, command in commands.items():
        console.print(Text(f"{word}: {command}", "dim"), soft_wrap=True)
