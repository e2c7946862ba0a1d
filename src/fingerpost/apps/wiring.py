"""Where everything meets: settings in, a house full of tools out.

Building a house is light: the engine, the protocol and HTTP are imported by whoever needs them, when they do.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fingerpost import clock
from fingerpost.apps.networks import new_networks
from fingerpost.apps.plans import Plans, build_plans
from fingerpost.apps.settings import Settings
from fingerpost.contract.published import PublishedTool
from fingerpost.contract.registry import ToolRegistry
from fingerpost.filings.library import FactLibrary
from fingerpost.store.variables import VariableStore
from fingerpost.tools.catalogue import list_tools
from fingerpost.transit.port import Networks


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """All that a face needs. ``tools`` is in the catalogue's order, by name.

    Whoever ends closes ``networks``.
    """

    settings: Settings
    tools: Mapping[str, PublishedTool]
    networks: Networks
    variables: VariableStore
    plans: Plans


def build(settings: Settings, groups: Collection[str] | None = None) -> House:
    """Return a house with the tools of some groups, or of all where ``groups`` is None.

    Raises:
        SettingsInvalid: the home folder, or the fixed clock, cannot be used, or there is no such group.
    """
    clock.find_fixed()
    settings.prepare_home()
    networks = new_networks(settings)
    variables = VariableStore(settings.variables_file, retention_days=settings.retention_days)
    tools = list_tools(networks, variables, groups, library=FactLibrary(settings.filings_file))
    plans = build_plans(settings, tools)
    if not groups or plans.GROUP in groups:
        tools += plans.tools
    for tool in tools:
        ToolRegistry.register(tool.spec)
    return House(
        settings=settings,
        tools=MappingProxyType({tool.name: tool for tool in tools}),
        networks=networks,
        variables=variables,
        plans=plans,
    )
