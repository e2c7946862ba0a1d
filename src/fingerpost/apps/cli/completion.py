"""Complete saved names, stops and networks for the shell, without querying a server."""

import os
import re
from collections.abc import Iterable

import typer

from fingerpost.apps.cli.application import open_application, prepare_settings, run_and_close


def complete_network(ctx: typer.Context, incomplete: str) -> list[str]:
    from fingerpost.apps.source_kinds import open_record_store

    return _select(open_record_store(prepare_settings(ctx).home).read().records, incomplete)


def complete_key(ctx: typer.Context, incomplete: str) -> list[str]:
    from fingerpost.apps.storage import open_variables

    settings = prepare_settings(ctx)
    return _select((each.key for each in open_variables(settings).list_variables(settings.user)), incomplete)


def complete_place(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return saved names and, after the first letter, the names of stops in networks on this machine."""
    application = open_application(ctx)

    async def list_stops() -> list[str]:
        networks = (await application.networks.open()).answering if incomplete else ()
        # A network without a deadline is on this machine.
        local = [each for each in networks if each.profile.answer_deadline_s is None]
        return [found.place.name for each in local for found in await each.find_places(incomplete)]

    return [*complete_key(ctx, incomplete), *_select(run_and_close(application, list_stops()), incomplete)]


def _select(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that match a prefix in any case, with the prefix as typed, because typer drops all others."""
    length = len(incomplete)
    matching = dict.fromkeys(name for name in names if name[:length].casefold() == incomplete.casefold())
    # Bash inserts a completion into its line unquoted; other shells quote it.
    is_bash = os.environ.get("_FINGERPOST_COMPLETE") == "complete_bash"
    return [incomplete + re.sub(r"([^\w.,:/+-])", r"\\\1" if is_bash else r"\1", name[length:]) for name in matching]
