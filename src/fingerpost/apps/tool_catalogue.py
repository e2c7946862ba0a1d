"""Every tool that can be served, in the order in which it is listed."""

from collections.abc import Collection

from fingerpost.contract.published import PublishedTool
from fingerpost.errors import SettingsInvalid
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.tools.sec_financial_data import SecFinancialData
from fingerpost.filings.tools.sec_graph_query import SecGraphQuery
from fingerpost.filings.tools.sec_semantic_search import SecSemanticSearch
from fingerpost.filings.tools.tool_details import ToolDetails
from fingerpost.store.variables import Variables
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.port import Networks
from fingerpost.transit.tools.find_address_or_stop import FindAddressOrStop
from fingerpost.transit.tools.find_stops import FindStops
from fingerpost.transit.tools.get_departures import GetDepartures
from fingerpost.transit.tools.get_stop_timetable import GetStopTimetable
from fingerpost.transit.tools.plan_journey import JourneyOptions, PlanJourney
from fingerpost.transit.tools.plan_route import PlanRoute
from fingerpost.transit.tools.plan_trip import PlanTrip
from fingerpost.transit.tools.user_variables import DeleteUserVariable, GetUserVariables, SaveUserVariable

GROUPS = ("core", "timetable", "london", "filings", "plans", "own")


def list_tools(
    networks: Networks,
    variables: Variables,
    groups: Collection[str] | None = None,
    *,
    library: FactLibrary | None = None,
    journeys: JourneyOptions | None = None,
) -> list[PublishedTool]:
    """Return the tools of some groups, of all groups where none is named; without a library the sample's figures.

    ``journeys`` are the operator's choices for planJourney.

    Raises:
        SettingsInvalid: there is no such group.
    """
    unknown = sorted(set(groups or ()) - set(GROUPS))
    if unknown:
        raise SettingsInvalid(f"There is no group of tools called {', '.join(unknown)}. Groups: {', '.join(GROUPS)}.")
    figures = library or FactLibrary(None)
    places = PlaceResolver(networks, variables)
    tools: list[PublishedTool] = [
        PlanTrip(places),
        GetDepartures(places),
        FindAddressOrStop(places),
        FindStops(networks),
        SaveUserVariable(variables),
        GetUserVariables(variables),
        DeleteUserVariable(variables),
        PlanRoute(places),
        GetStopTimetable(places),
        PlanJourney(networks, variables, journeys),
        SecFinancialData(figures),
        SecGraphQuery(figures),
        SecSemanticSearch(figures),
        ToolDetails(),
    ]
    return [tool for tool in tools if not groups or tool.group in groups]
