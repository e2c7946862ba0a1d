"""The Python interface: every tool as a method, asynchronous (``Fingerpost``) and synchronous (``SyncFingerpost``)."""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from pydantic.alias_generators import to_camel

from fingerpost.apps import error_boundary
from fingerpost.apps.kernels import answer_while_compiling
from fingerpost.apps.own_tools import OwnTool
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import Application, build
from fingerpost.contract.plan import Plan
from fingerpost.contract.published import Answer
from fingerpost.errors import ToolError

_Body_co = TypeVar("_Body_co", covariant=True)
_R = TypeVar("_R")

End = str | tuple[float, float] | Mapping[str, Any]
"""One end of a trip: a label, a position (lat, lon) in degrees, or the contract's own object."""


class _ToolMethods(ABC, Generic[_Body_co]):
    """Every tool as a method, with the contract's fields in snake_case; ``_Body_co`` is what it returns."""

    @abstractmethod
    def _body(self, tool: str, given: Mapping[str, Any]) -> _Body_co:
        """Call a tool with a method's local variables, and return the body; those that are None are left out."""

    def plan_trip(
        self,
        *,
        origin: End,
        destination: End,
        when: Mapping[str, Any] | None = None,
        constraints: Mapping[str, Any] | None = None,
        limit: int | None = None,
        include_disruption_alt: bool | None = None,
    ) -> _Body_co:
        """Plan a trip (plan_trip contract); ``when`` and ``constraints`` are the contract's objects."""
        origin, destination = _end(origin), _end(destination)
        return self._body("plan_trip", locals())

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
        """List a board (get_departures contract); a text as ``stop`` is a label, ``at`` an instant (ISO 8601).

        ``walk_from``, a saved place or ``lat,lon``, also tells when to leave.
        """
        stop = {"type": "label", "value": stop} if isinstance(stop, str) else stop
        return self._body("get_departures", locals())

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
        """Plan within a window of time (lookup contract, planRoute); a text as an end is a ``rawText``."""
        origin = {"rawText": origin} if isinstance(origin, str) else origin
        destination = {"rawText": destination} if isinstance(destination, str) else destination
        return self._body("planRoute", locals())

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
        """List a stop's scheduled departures (lookup contract, getStopTimetable)."""
        return self._body("getStopTimetable", locals())

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
        """List stops near a point in degrees; ``radius`` in metres."""
        coordinate = {"lat": lat, "lon": lon}
        del lat, lon
        return self._body("find_stops", locals())

    def find_address_or_stop(
        self,
        raw_text: str,
        *,
        focus_point: Mapping[str, float] | None = None,
        max_distance_meters: int | None = None,
        language_preference: str | None = None,
    ) -> _Body_co:
        """Look a text up (lookup contract): the place, or the candidates."""
        return self._body("findAddressOrStop", locals())

    def plan_journey(self, from_: str, to: str, *, need_accessible_route: bool | None = None) -> _Body_co:
        """Summarise the fastest journeys in London (planJourney contract)."""
        return self._body("planJourney", locals())

    def save_user_variable(self, *, key: str, type: str, value: Any) -> _Body_co:  # noqa: A002  (the contract's word)
        """Keep a value by name for this user."""
        return self._body("save_user_variable", locals())

    def get_user_variables(self) -> _Body_co:
        """List what this user keeps."""
        return self._body("get_user_variables", {})

    def delete_user_variable(self, key: str | None = None, *, all: bool = False) -> _Body_co:  # noqa: A002  (the contract's word)
        """Forget one variable of this user, or every one with ``all``."""
        return self._body("delete_user_variable", locals())

    def sec_financial_data(self, query_type: str, parameters: Mapping[str, Any]) -> _Body_co:
        """Ask for figures of companies (plan-step contract): one question and its parameters."""
        return self._body("sec_financial_data", locals())

    def sec_graph_query(self, query_type: str, parameters: Mapping[str, Any]) -> _Body_co:
        """Ask for lists of filings."""
        return self._body("sec_graph_query", locals())

    def sec_semantic_search(self, query_type: str, parameters: Mapping[str, Any]) -> _Body_co:
        """Search the text of filings by its words."""
        return self._body("sec_semantic_search", locals())

    def tool_details(self, query_type: str, parameters: Mapping[str, Any]) -> _Body_co:
        """Ask what a tool expects and returns."""
        return self._body("tool_details", locals())

    def run_plan(
        self,
        *,
        plan: Plan | Mapping[str, Any] | None = None,
        user_input: str | None = None,
        wanted: Sequence[str] | None = None,
        memory: Mapping[str, Any] | None = None,
        memory_of: str | None = None,
        run_id: str | None = None,
        action: str | None = None,
        step_id: int | None = None,
        note: str | None = None,
        value: Any = None,
        wait_seconds: int | None = None,
    ) -> _Body_co:
        """Run a plan (plan-step contract), or act on a run; a plan that failed is an answer with ``success`` false."""
        plan = plan.model_dump() if isinstance(plan, Plan) else plan
        return self._body("run_plan", locals())

    def get_plan_run(
        self, run_id: str | None = None, *, include: Sequence[str] | None = None, after_event: int | None = None
    ) -> _Body_co:
        """Return how a run stands, or this user's runs."""
        return self._body("get_plan_run", locals())


class Fingerpost(_ToolMethods[Coroutine[Any, Any, dict[str, Any]]]):
    """All tools as asynchronous methods, in this process.

    ::

        async with Fingerpost() as fp:
            trip = await fp.plan_trip(origin="Kamppi", destination="Espoo")

    ``call`` answers as MCP and the command line do: an error is an envelope.
    ``answer`` adds the text, and what else is wanted, such as geometry.
    The named methods take the contract's fields in snake_case, return its body, and raise its error as ToolError.
    A field that is None is left out. ``home`` and ``user`` default to the settings'.
    ``tools`` are your own, served and usable in plans like any other: functions with annotated parameters, whose
    result becomes ``data``, or objects of ``Tool`` with a ``spec``.

    Raises:
        SettingsInvalid: a setting, the home folder, or a tool of yours cannot be used.
    """

    def __init__(
        self, home: str | Path | None = None, user: str | None = None, *, tools: Sequence[OwnTool] = ()
    ) -> None:
        self._application: Application = build(read_settings(home=home, user=user), own=tools)
        self._user = self._application.settings.user
        answer_while_compiling(self._application.settings.home)

    async def __aenter__(self) -> Self:
        """Nothing is opened before it is needed."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop realtime updates and plan runs; each run can be resumed from its journal."""
        await self._application.networks.close()
        await self._application.plans.runs.stop()
        self._application.plans.runs.journal.close()

    async def call(self, tool: str, arguments: object = None) -> dict[str, Any]:
        """Return the contract's envelope for a call, success or error; never raises a ToolError."""
        return (await self.answer(tool, arguments)).body

    async def answer(self, tool: str, arguments: object = None, *, wants: Collection[str] = ()) -> Answer:
        """Return a call's whole answer: body, text and, in ``beside``, the wanted extras such as ``geometry``.

        Never raises a ToolError; ``error`` holds the one that the body renders.
        """
        return await error_boundary.answer(self._application.tools, tool, arguments, user=self._user, wants=wants)

    async def _body(self, tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
        fields = self._application.tools[tool].input_schema["properties"]
        arguments = {
            name if name in fields else to_camel(name.rstrip("_")): _plain(value)
            for name, value in given.items()
            if name != "self" and value is not None
        }
        answer = await self.answer(tool, arguments)
        if answer.error is not None:
            raise answer.error
        return answer.body


def _awaiting(method: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
    @wraps(method)
    async def run(*arguments: Any, **named: Any) -> dict[str, Any]:
        body: dict[str, Any] = await method(*arguments, **named)
        return body

    return run


# Callers that take functions of both kinds, as ``tools`` of Fingerpost does, look for ``async def``.
for _name, _method in vars(_ToolMethods).items():
    if not _name.startswith("_"):
        setattr(Fingerpost, _name, _awaiting(_method))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else value


def _end(end: End) -> Mapping[str, Any]:
    if isinstance(end, str):
        return {"type": "label", "value": end}
    if isinstance(end, Mapping):
        return end
    lat, lon = end
    return {"type": "coords", "value": {"lat": lat, "lon": lon}}


class SyncFingerpost(_ToolMethods[dict[str, Any]]):
    """All tools as synchronous methods; usable inside a running event loop too.

    ::

        with SyncFingerpost() as fp:
            trip = fp.plan_trip(origin="Kamppi", destination="Espoo")
    """

    def __init__(
        self, home: str | Path | None = None, user: str | None = None, *, tools: Sequence[OwnTool] = ()
    ) -> None:
        self._inner = Fingerpost(home, user, tools=tools)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Start the private event loop, in a thread of its own."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fingerpost-sync", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the private event loop."""
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._inner.__aexit__(kind, error, trace), loop).result()
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def call(self, tool: str, arguments: object = None) -> dict[str, Any]:
        """Return as ``Fingerpost.call`` does."""
        return self._wait(self._inner.call(tool, arguments))

    def answer(self, tool: str, arguments: object = None, *, wants: Collection[str] = ()) -> Answer:
        """Return as ``Fingerpost.answer`` does."""
        return self._wait(self._inner.answer(tool, arguments, wants=wants))

    def _body(self, tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
        return self._wait(self._inner._body(tool, given))  # noqa: SLF001  (its own other half)

    def _wait(self, answer: Coroutine[Any, Any, _R]) -> _R:
        if self._loop is None:
            answer.close()
            raise ToolError("SyncFingerpost is not open", hint="Use it as: with SyncFingerpost() as fp")
        return asyncio.run_coroutine_threadsafe(answer, self._loop).result()
