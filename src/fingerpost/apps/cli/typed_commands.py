"""Commands of ours as a person types them, and the lines that offer them."""

import shlex
from collections.abc import Mapping

from rich.console import Console
from rich.text import Text


def typed(*words: str) -> str:
    """Return a command line of ours, quoted for a POSIX shell."""
    return shlex.join(["fingerpost", *words])


def print_more(console: Console, commands: Mapping[str, str]) -> None:
    """Print what to type for more, one line a command, each behind its word."""
    for word, command in commands.items():
        console.print(Text(f"{word}: {command}", "dim"), soft_wrap=True)
