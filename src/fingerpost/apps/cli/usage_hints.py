"""What a mistyped command line is answered with: beside what is wrong, what to type instead."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# Typer's own name for it is private.
_UsageError: Any = typer.BadParameter.__base__


class HintingCommand(TyperCommand):
    """A command that says what it takes, where it was given something else."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line."""
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            error.message = f"{error.message}{self._find_hint(error.message)}"
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
