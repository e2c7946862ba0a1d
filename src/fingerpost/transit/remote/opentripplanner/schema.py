"""What a server's version lacks of the few fields that differ between versions, by introspection."""

from collections.abc import Iterable, Mapping
from typing import Any

from fingerpost.transit.remote.opentripplanner.documents import list_optional
from fingerpost.transit.remote.opentripplanner.server import Server

# Without this there is nothing to plan with: it came with OpenTripPlanner 2.6.
NEEDED = "QueryType.planConnection"
TRAIT = "lacking"
"""The trait of a learned profile that keeps the list."""


async def find_lacking(server: Server) -> frozenset[str]:
    """Return every ``Type.field`` that our documents could use and this server does not know.

    A server that refuses introspection is taken to know them all.

    Raises:
        StorageUnavailable, SourceChanged: it cannot be asked.
    """
    wanted = [*list_optional(), NEEDED]
    owners = sorted({each.partition(".")[0] for each in wanted})
    told = await server.ask_schema(_introspection(owners))
    if told is None:
        return frozenset()
    known = {f"{owner}.{name}" for owner in owners for name in _names(told.get(owner))}
    return frozenset(each for each in wanted if each not in known)


def print_lacking(lacking: Iterable[str]) -> str:
    """Return the text of the trait."""
    return " ".join(sorted(lacking))


def read_lacking(traits: Mapping[str, str]) -> frozenset[str]:
    """Return what was kept under the trait; nothing where nothing was."""
    return frozenset(traits.get(TRAIT, "").split())


def _introspection(owners: Iterable[str]) -> str:
    asked = " ".join(
        f'{owner}: __type(name: "{owner}") {{ fields {{ name }} inputFields {{ name }} }}' for owner in owners
    )
    return f"query Schema {{ {asked} }}"


def _names(told: Any) -> list[str]:
    if not isinstance(told, dict):
        return []
    lists = [each for each in (told.get("fields"), told.get("inputFields")) if isinstance(each, list)]
    listed = [each for listed in lists for each in listed]
    return [each["name"] for each in listed if isinstance(each, dict) and isinstance(each.get("name"), str)]
