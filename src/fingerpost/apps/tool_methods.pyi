# Written by docs/generate.py; change the input models of the tools, then run `make docs`.
from collections.abc import Mapping, Sequence
from inspect import Signature
from typing import Any, Generic, TypeVar

from fingerpost.contract.plan import Plan
from fingerpost.contract.published_tool import ToolDefinition

_Body_co = TypeVar("_Body_co", covariant=True)

def name_method(tool: ToolDefinition) -> str: ...
def build_signature(tool: ToolDefinition) -> Signature: ...

class ToolMethods(Generic[_Body_co]):
    def _fetch_body(self, tool: str, arguments: dict[str, Any]) -> _Body_co: ...
    def plan_trip(
        self,
        *,
        origin: str | tuple[float, float] | Mapping[str, Any],
        destination: str | tuple[float, float] | Mapping[str, Any],
        when: Mapping[str, Any] | None = None,
        constraints: Mapping[str, Any] | None = None,
        limit: int | None = None,
        include_disruption_alt: bool | None = None,
    ) -> _Body_co:
        """Plan a door-to-door public transport trip, realtime-aware, with alternatives to disrupted trips. A label's
        token comes from findAddressOrStop. For the next departures from one stop, use get_departures."""
    def get_departures(
        self,
        *,
        stop: str | Mapping[str, Any],
        window_minutes: int | None = None,
        limit: int | None = None,
        language: str | None = None,
        at: str | None = None,
        walk_from: str | None = None,
    ) -> _Body_co:
        """List the next departures from one stop or station, with delays and cancellations. Ids come from
        findAddressOrStop or find_stops. To travel between two places, use plan_trip."""
    def check_trip(self, *, refs: Sequence[str], language: str | None = None) -> _Body_co:
        """Check whether the rides of a planned trip still run, with their times and status now, and whether each
        change still works. Refs come from plan_trip or planJourney."""
    def find_address_or_stop(
        self,
        raw_text: str,
        *,
        focus_point: Mapping[str, Any] | None = None,
        max_distance_meters: int | None = None,
        language_preference: str | None = None,
    ) -> _Body_co:
        """Resolve free text to a stop, address or place, or return candidates if there is no certain match. Every
        tool accepts the ids and lat,lon in the answer. For stops around a coordinate, use find_stops."""
    def find_stops(
        self,
        *,
        lat: float,
        lon: float,
        radius: int | None = None,
        max_results: int | None = None,
        text_filter: str | None = None,
        language: str | None = None,
        include_modes: Sequence[str] | None = None,
    ) -> _Body_co:
        """List stops near a coordinate, nearest first. To find a stop by name, use findAddressOrStop."""
    def save_user_variable(self, key: str, *, type: str, value: Any) -> _Body_co:
        """Save a place or a preference under a name, such as home, to use as a label later."""
    def get_user_variables(self) -> _Body_co:
        """List the user's saved places and preferences."""
    def delete_user_variable(self, key: str | None = None, *, all: bool | None = None) -> _Body_co:
        """Delete one saved variable by its key, or all of them with all: true."""
    def plan_route(
        self,
        *,
        origin: str | Mapping[str, Any],
        destination: str | Mapping[str, Any],
        departure_time: str | None = None,
        arrival_time: str | None = None,
        search_window_minutes: int | None = None,
        journey_preset: str | None = None,
    ) -> _Body_co:
        """Itineraries between two places (texts or findAddressOrStop answers) that leave, or arrive, within a window.
        For preferences, and for alternatives to disrupted trips, use plan_trip."""
    def get_stop_timetable(
        self,
        *,
        stop_id: str,
        max_departures: int | None = None,
        horizon_minutes: int | None = None,
        at: str | None = None,
        until: str | None = None,
        whole_place: bool | None = None,
    ) -> _Body_co:
        """Scheduled departures from a stop (by id): the next few, or all from at to until, on any day (for example,
        the last bus on a Saturday). For delays, use get_departures."""
    def plan_journey(self, from_: str, to: str, *, need_accessible_route: bool | None = None) -> _Body_co:
        """Summaries of the 5 fastest journeys in London, leaving now. For legs, other times or other cities, use
        plan_trip."""
    def sec_financial_data(self, query_type: str, parameters: Mapping[str, Any] | None = None) -> _Body_co:
        """Figures that companies reported to the SEC, each with accession number, filing date, tag, unit and period.
        query_type financial_facts: {ticker, metrics: ["Revenue"], period: "2022" or "2022-Q2" (fiscal), or start_date
        and end_date for period ends}; data.Revenue is the number. Others: time_series {ticker, metric, period:
        annual|quarterly}, compare {tickers, metrics, period}, statement {ticker, statement: income|balance|cash_flow,
        period: 2022 or 2020..2022}, financial_ratios {ticker, ratios, period}, calculate {ticker, expression:
        free_cash_flow or 365*avg(Inventory)/CostOfRevenue, period}, segments {ticker, metric, axis:
        segment|product|region, period}, verify_claim {ticker, metric or formula, period, relation, value, unit},
        company_info, companies, metrics {ticker}, custom_sql {sql_query}. All take as_of. Never invents figures: read
        missing and source, and report them. For lists of filings use sec_graph_query, for text
        sec_semantic_search."""
    def sec_graph_query(self, query_type: str, parameters: Mapping[str, Any] | None = None) -> _Body_co:
        """A company's filings with the SEC. query_type company_filings {ticker, filing_types, limit}, newest first,
        filing_text {ticker or accession_number, form, item: 1A or 2.02, page}, the text of a loaded filing. For
        figures use sec_financial_data."""
    def sec_semantic_search(self, query_type: str, parameters: Mapping[str, Any] | None = None) -> _Body_co:
        """Paragraphs of SEC filings that share words with a query, ranked by BM25: lexical, so try synonyms.
        query_type semantic_search {query, companies, filing_types, date_range, sections, keywords, top_k}. Only
        loaded text is searched. For numbers use sec_financial_data."""
    def tool_details(self, query_type: str, parameters: Mapping[str, Any] | None = None) -> _Body_co:
        """The parameters of each query type of a tool, as JSON Schema, and what it returns. query_type tool_details
        {tool_name: "sec_financial_data"}."""
    def run_plan(
        self,
        *,
        plan: Plan | Mapping[str, Any] | None = None,
        user_input: str | None = None,
        memory: Mapping[str, Any] | None = None,
        memory_of: str | None = None,
        run_id: str | None = None,
        action: str | None = None,
        step_id: int | None = None,
        note: str | None = None,
        value: Any | None = None,
        wait_seconds: int | None = None,
    ) -> _Body_co:
        """Run a plan of many tool calls: validated first, run in parallel, resumable after a crash. Returns when the
        run ends or after wait_seconds; then use get_plan_run with run_id. With run_id and action: approve, reject,
        cancel, resume or replace (the unfinished steps, with those in plan)."""
    def get_plan_run(self, run_id: str | None = None, *, include: Sequence[str] | None = None) -> _Body_co:
        """The state of a run started by run_plan: progress, steps, partial results, pending approvals. include adds
        plan, memory, items or events. Without run_id: your runs."""
