"""Complete saved names and networks for the shell, without opening a network."""

import os
import re
from collections.abc import Iterable

import typer

from fingerpost.apps.cli.application import prepare_settings


def complete_network(ctx: typer.Context, incomplete: str) -> list[str]:
    from fingerpost.apps.source_kinds import open_record_store

    return _select(open_record_store(prepare_settings(ctx).home).read().records, incomplete)


def complete_key(ctx: typer.Context, incomplete: str) -> list[str]:
    from fingerpost.apps.storage import open_variables

    settings = prepare_settings(ctx)
    return _select((each.key for each in open_variables(settings).list_variables(settings.user)), incomplete)


def _select(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that match a prefix in any case, with the prefix as typed, because typer drops all others."""
    length = len(incomplete)
    matching = dict.fromkeys(name for name in names if name[:length].casefold() == incomplete.casefold())
    # Bash inserts a completion into its line unquoted; other shells quote it.
    is_bash = os.environ.get("_FINGERPOST_COMPLETE") == "complete_bash"
    return [incomplete + re.sub(r"([^\w.,:/+-])", r"\\\1" if is_bash else r"\1", name[length:]) for name in matching]
