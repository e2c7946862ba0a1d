"""Commands that show that they work: a sign of life stands around each of them."""

import time
from typing import Any

import typer

from fingerpost.apps.cli.usage_hints import HintingCommand
from fingerpost.apps.cli.waiting import SignOfLife, showing_life

# Their stderr is a log, or says at once where they listen.
LISTENING = frozenset({"serve", "worker", "web"})


class WorkingCommand(HintingCommand):
    """A command that shows a sign of life on a terminal whenever it has printed nothing for a second."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        if ctx.find_root().obj.verbose:
            # The log shows what it does.
            return super().invoke(ctx)
        # What the interpreter has worked until now was silence too.
        with showing_life(SignOfLife(worked_s=time.process_time())):
            return super().invoke(ctx)


def show_that_commands_work(commands: typer.Typer) -> None:
    """Make a working command of every command that ends by itself, however deep; every command gives hints."""
    for command in commands.registered_commands:
        command.cls = HintingCommand if command.name in LISTENING else WorkingCommand
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            show_that_commands_work(group.typer_instance)
