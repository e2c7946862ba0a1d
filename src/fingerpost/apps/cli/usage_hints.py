"""What a mistyped command line is answered with: beside what is wrong, what to type instead."""

import re
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# Typer's own name for it is private.
_UsageError: Any = typer.BadParameter.__base__


# What typer takes from its checker of values, and how a person says it.
_NO_NUMBER = re.compile(r"Input should be a valid (integer|number)\b.*", re.DOTALL)
_BOUND = re.compile(r"Input should be (greater|less) than or equal to (\S+)")
_EXAMPLES = {"integer": ("whole number", "3"), "number": ("number", "500")}


class HintingCommand(TyperCommand):
    """A command that says what it takes, where it was given something else."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            error.message = f"{_in_plain_words(error, given)}{self._find_hint(error.message)}"
            raise

    def _find_hint(self, message: str) -> str:
        """Return the sentence that belongs behind an error, empty where it says enough itself."""
        extra = message.partition("Got unexpected extra argument")[2]
        if " -" in extra.replace("(", " ") or message.startswith("No such option"):
            options = [option for each in self.params if each.param_type_name == "option" for option in each.opts]
            return f". The options are {', '.join(option for option in options if option.startswith('--'))}."
        if not extra:
            return ""
        if any(each.param_type_name == "argument" for each in self.params):
            return '. A name of several words stands in quotation marks, as "Kamppi (M)".'
        return ". It takes options only."


def _in_plain_words(error: Any, args: Sequence[str]) -> str:
    """Return an error's sentence; one about an option's number names the option, and what it was given."""
    message = str(error.message)
    option = max(getattr(getattr(error, "param", None), "opts", None) or [""], key=len)
    bound, no_number = _BOUND.fullmatch(message), _NO_NUMBER.fullmatch(message)
    if bound is not None:
        return f"it must be at {'least' if bound[1] == 'greater' else 'most'} {bound[2]}, as in {option} {bound[2]}"
    if no_number is None:
        return message
    kind, example = _EXAMPLES[no_number[1]]
    given = _find_value(option, args)
    return f"{'it' if given is None else repr(given)} is no {kind}, as in {option} {example}"


def _find_value(option: str, args: Sequence[str]) -> str | None:
    """Return what was typed behind an option; None where it was typed otherwise."""
    for at, word in enumerate(args):
        if word == option and at + 1 < len(args):
            return args[at + 1]
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None


class HintingGroup(TyperGroup):
    """A group that lists its commands, where a word is none of them and none is spelt like it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first word names."""
        try:
            return super().resolve_command(ctx, args)
        except _UsageError as error:
            if "Did you mean" not in error.message:
                error.message = f"{error.message} The commands are {', '.join(self.commands)}."
            raise
