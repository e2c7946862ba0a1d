"""The composition root: build the application and its tools from the settings.

Building is cheap: the engine, the MCP protocol and HTTP are imported only when they are needed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any

from fingerpost import clock
from fingerpost.apps.error_boundary import measure_call, record_outcome
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import list_paces, open_record_store, open_sources
from fingerpost.apps.storage import new_client, open_journal, open_limits, open_variables
from fingerpost.contract.published_tool import PublishedTool, ToolDefinition
from fingerpost.contract.tool import ToolRegistry
from fingerpost.errors import SettingsInvalid
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sync import PACES, CompanyFetcher, Edgar
from fingerpost.net.loop_clients import LoopClients
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.plan_tools import GetPlanRun, PlanningCapability, RunPlan
from fingerpost.plan.runs import PlanRuns
from fingerpost.plan.user_tools import GROUP, UserTool, serve_user_tools
from fingerpost.store.network_records import NetworkRecord
from fingerpost.store.variables import VariableStore
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.networks.composite import AllNetworks, DemoMode
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.port import Networks
from fingerpost.transit.tools.plan_journey import JourneyOptions

DEMOS = ("DEMO-HELSINKI", "DEMO-LONDON")

_TOOLS: Sequence[tuple[type[PublishedTool], Sequence[str]]] = [
    (resolve_name(f"fingerpost.{path}"), dependencies)
    for path, *dependencies in (
        ("transit.tools.plan_trip:PlanTrip", "places"),
        ("transit.tools.get_departures:GetDepartures", "places"),
        ("transit.tools.check_trip:CheckTrip", "networks"),
        ("transit.tools.find_address_or_stop:FindAddressOrStop", "places"),
        ("transit.tools.find_stops:FindStops", "networks"),
        ("transit.tools.user_variables:SaveUserVariable", "variables", "has_sign_in"),
        ("transit.tools.user_variables:GetUserVariables", "variables", "has_sign_in"),
        ("transit.tools.user_variables:DeleteUserVariable", "variables", "has_sign_in"),
        ("transit.tools.plan_route:PlanRoute", "places"),
        ("transit.tools.get_stop_timetable:GetStopTimetable", "places"),
        ("transit.tools.plan_journey:PlanJourney", "networks", "variables", "journeys"),
        ("filings.tools.sec_financial_data:SecFinancialData", "library", "fetcher"),
        ("filings.tools.sec_graph_query:SecGraphQuery", "library", "fetcher"),
        ("filings.tools.sec_semantic_search:SecSemanticSearch", "library"),
        ("filings.tools.sec_query:ToolDetails", "list_specs"),
    )
]
"""Each tool's class and the names of its dependencies in ``list_tools``, in catalogue order."""

TOOLS = (*(tool.definition for tool, _ in _TOOLS), RunPlan.definition, GetPlanRun.definition)
GROUPS = (*dict.fromkeys(group for tool in TOOLS for group in tool.groups), GROUP)
# Registered here, so that ``validate_call`` works without an application.
ToolRegistry.add(tool.spec for tool in TOOLS)


def check_groups(groups: Collection[str]) -> None:
    """Raise SettingsInvalid if one of the tool groups does not exist."""
    if unknown := sorted(set(groups) - set(GROUPS)):
        raise SettingsInvalid(f"There is no tool group called {', '.join(unknown)}. Groups: {', '.join(GROUPS)}")


def is_in_groups(tool: ToolDefinition, groups: Collection[str] | None) -> bool:
    """Whether a tool belongs to one of the groups; without groups, every tool does."""
    return not groups or any(group in groups for group in tool.groups)


def list_tools(
    networks: Networks,
    variables: VariableStore,
    groups: Collection[str] | None = None,
    *,
    library: FactLibrary | None = None,
    fetcher: CompanyFetcher | None = None,
    journeys: JourneyOptions | None = None,
    has_sign_in: bool = False,
) -> list[PublishedTool]:
    """Return the tools in the given groups, or all tools; without a ``library``, filings tools use sample data.

    The caller may add tools to the list; ``tool_details`` then describes the added tools too.
    """
    check_groups(groups or ())
    tools: list[PublishedTool] = []
    dependencies = {
        "networks": networks,
        "variables": variables,
        "places": PlaceResolver(networks, variables),
        "library": library or FactLibrary(None),
        "fetcher": fetcher,
        "journeys": journeys,
        "has_sign_in": has_sign_in,
        "list_specs": lambda: sorted((tool.spec for tool in tools), key=lambda spec: spec.name),
    }
    for tool_class, names in _TOOLS:
        if is_in_groups(tool_class.definition, groups):
            tools.append(tool_class(*(dependencies[name] for name in names)))
    return tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Everything that an interface needs; ``tools`` maps names to tools, in catalogue order.

    ``skipped_tools`` maps entry points of installed packages to the reasons why their tools are not served.
    """

    settings: Settings
    tools: Mapping[str, PublishedTool]
    networks: AllNetworks
    variables: VariableStore
    runs: PlanRuns
    skipped_tools: Mapping[str, str]

    async def aclose(self) -> None:
        """Stop plan runs and realtime updates; the runs can be resumed from the journal."""
        # Stop the runs first, because steps would fail without networks.
        try:
            await self.runs.aclose()
        finally:
            await self.networks.close()


def new_networks(settings: Settings) -> AllNetworks:
    """Return the networks of a home folder; the first query opens them and imports the engine."""
    clients = LoopClients(lambda: new_client(settings, list_paces()))
    return AllNetworks(
        open_record_store(settings.home),
        lambda: open_sources(settings, clients.fetch),
        demos=[NetworkRecord(name=name, source="demo") for name in DEMOS],
        demo_mode=DemoMode(settings.demo),
        learned=LearnedProfiles(settings.home),
        clients=clients,
    )


def build(
    settings: Settings, groups: Collection[str] | None = None, user_tools: Sequence[UserTool] = ()
) -> Application:
    """Return an application with the tools in the given groups, or with all tools if ``groups`` is None.

    ``user_tools`` are the caller's own tools; installed packages can add more (``plan/user_tools.py``).
    """
    clock.find_fixed_time()
    settings.prepare_home()
    networks = new_networks(settings)
    variables = open_variables(settings)
    fetcher = None
    if settings.sec_contact:
        edgar = Edgar(contact=settings.sec_contact)
        fetcher = CompanyFetcher(settings.filings_file, edgar, lambda: new_client(settings, PACES))
    journeys = JourneyOptions(
        per_second=settings.plan_journey_per_second,
        limits=open_limits(settings),
        are_demos_enabled=networks.are_demos_enabled,
    )
    tools = list_tools(
        networks,
        variables,
        groups,
        library=FactLibrary(settings.filings_file),
        fetcher=fetcher,
        journeys=journeys,
        has_sign_in=settings.tokens_file is not None or bool(settings.token_issuer),
    )
    served, skipped = serve_user_tools(user_tools, {tool.name for tool in TOOLS})
    if not groups or GROUP in groups:
        tools += served
    # Without the plan tools, so that plans cannot start plans.
    catalogue = Catalogue.of([_new_plan_tool(tool) for tool in tools])
    runs = PlanRuns(catalogue, open_journal(settings))
    if is_in_groups(RunPlan.definition, groups):
        tools += (RunPlan(runs, PlanningCapability(catalogue)), GetPlanRun(runs))
    ToolRegistry.add(tool.spec for tool in served)
    return Application(
        settings=settings,
        tools=MappingProxyType({tool.name: tool for tool in tools}),
        networks=networks,
        variables=variables,
        runs=runs,
        skipped_tools=MappingProxyType(skipped),
    )


def _new_plan_tool(tool: PublishedTool) -> PlanTool:
    async def execute(query_type: str, parameters: dict[str, Any], user: str | None) -> Mapping[str, Any]:
        with measure_call(tool.name) as operation:
            answer = await tool.answer(tool.to_raw(query_type, parameters), user=user)
            record_outcome(operation, tool, answer, user or "")
        return tool.to_standard(query_type, parameters, answer)

    return PlanTool(spec=tool.spec, execute=execute, is_idempotent=tool.definition.idempotent)
