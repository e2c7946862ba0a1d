"""The views that there are, and which tools' answers each of them draws."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One page that draws answers.

    Attributes:
        name: also the name of its module in ``assets``.
        title: for people who choose among views.
        description: what it shows.
        tools: the names of the tools whose answers it draws.
    """

    name: str
    title: str
    description: str
    tools: tuple[str, ...]

    @property
    def uri(self) -> str:
        return f"ui://fingerpost/{self.name}"


VIEWS: tuple[View, ...] = (
    View(
        name="trip",
        title="Trip",
        description="Itineraries side by side, with steps, a drawing of the line, and what is disrupted",
        tools=("plan_trip", "planRoute", "planJourney"),
    ),
    View(
        name="board",
        title="Departure board",
        description="Departures of a stop with delays, cancellations, platforms and alerts",
        tools=("get_departures", "getStopTimetable"),
    ),
    View(
        name="figures",
        title="Company figures",
        description="Figures of sec_financial_data as a table and a line over time, each point with its filing",
        tools=("sec_financial_data",),
    ),
)

VIEW_BY_TOOL: Mapping[str, View] = MappingProxyType({tool: view for view in VIEWS for tool in view.tools})
VIEW_BY_URI: Mapping[str, View] = MappingProxyType({view.uri: view for view in VIEWS})
