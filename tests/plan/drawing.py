"""Plans and tools, each drawn in a line or two."""

import asyncio
from collections import Counter

from pydantic import BaseModel, ConfigDict

from fingerpost.contract.plan import Plan, PlanStep, find_idempotency_key
from fingerpost.contract.tool import ToolSpec, failure_response, success_response
from fingerpost.filings.query_params import FinancialFactsParams
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.engines.embedded import EmbeddedJournal
from fingerpost.plan.limits import Limits
from fingerpost.plan.memory import list_items
from fingerpost.plan.plan_tools import PlanningCapability, RunPlan
from fingerpost.plan.records import read_recorded_plan
from fingerpost.plan.runs import PlanRuns
from fingerpost.plan.view import describe_run

NOW = "2026-03-10T06:00:00Z"


class EchoParams(BaseModel):
    model_config = ConfigDict(extra="forbid")

    n: int = 0
    label: str = ""
    extra: object = None


def step(number, tool="echo", **fields):
    fields.setdefault("expected_key", f"k{number}")
    return PlanStep(step_id=number, description=f"step {number}", tool=tool, **fields)


def human(number, **fields):
    return PlanStep(step_id=number, description="May we?", agent="human", **fields)


def plan(*steps, **fields):
    return Plan(goal="a goal", steps=list(steps), created_at=NOW, **fields)


def ref(key, path=None, **more):
    return {"$ref": key, **({} if path is None else {"path": path}), **more}


class Recorder:
    """A test tool: echoes its parameters as data, and keeps what it was called with.

    ``script`` maps a label to what happens instead: an exception, a response, an event to wait for, or an async
    function of the parameters.
    """

    def __init__(self, script=None):
        self.calls = []
        self.keys = []
        self.counts = Counter()
        self.script = script or {}
        self.at_once = self.most_at_once = 0
        self.begun = asyncio.Event()

    async def __call__(self, query_type, parameters, user):
        label = parameters.get("label", "")
        self.calls.append(parameters)
        self.keys.append(find_idempotency_key())
        self.counts[label] += 1
        self.begun.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            act = self.script.get(label)
            if isinstance(act, list):
                act = act[min(self.counts[label], len(act)) - 1]
            if isinstance(act, BaseException):
                raise act
            if isinstance(act, asyncio.Event):
                act = await act.wait() and None
            if callable(act):
                act = await act(parameters)
            if act is not None:
                return act
            return success_response("echo", query_type, parameters, [parameters], {"data": dict(parameters)})
        finally:
            self.at_once -= 1

    def tool(self, name="echo", **fields):
        spec = ToolSpec(name=name, input_schema={name: EchoParams}, output_key=name)
        return PlanTool(spec=spec, execute=self, **fields)


def failure(message, *, retryable=False, **extra):
    return failure_response("echo", "echo", {}, message, "error", {"retryable": retryable, **extra})


async def financial_data(query_type, parameters, _user):
    data = dict.fromkeys(parameters["metrics"], 394328000000)
    return success_response("sec_financial_data", query_type, parameters, [data], {"data": data})


FINANCIAL = PlanTool(
    spec=ToolSpec(
        name="sec_financial_data",
        input_schema={"financial_facts": FinancialFactsParams},
        output_key="sec_financial_data",
    ),
    execute=financial_data,
)

EXAMPLE = PlanStep(
    step_id=1,
    description="Get Apple's revenue for 2022",
    tool="sec_financial_data",
    parameters={
        "query_type": "financial_facts",
        "parameters": {"ticker": "AAPL", "metrics": ["Revenue"], "start_date": "2022-01-01", "end_date": "2022-12-31"},
    },
    expected_key="revenue_data",
    output_path=["data", "Revenue"],
    done_check="True",
)
"""The plan-step contract's own example."""

QUICK = Limits(backoff_s=0.0, attempt_s=5.0)


def runs_in(folder, *tools, limits=QUICK, agents=None, **more):
    return PlanRuns(Catalogue.of(tools, agents), EmbeddedJournal(folder), limits, poll_s=0.01, **more)


async def ended(runs, a_plan, **more):
    run_id = await runs.create(a_plan, user="ann", **more)
    state = await runs.execute(run_id)
    return state, await runs.get(run_id, "ann")


async def events_of(runs, run):
    events = await runs.journal.list_events(run.run_id)
    return [(event.kind, event.step_id) for event in events]


async def items_of(runs, run):
    events = await runs.journal.list_events(run.run_id)
    return list_items(run, read_recorded_plan(run).model_dump(), events)


async def viewed(runs, a_plan, parts=()):
    _state, run = await ended(runs, a_plan)
    return await describe_run(runs, run, parts)


def run_plan_over(runs):
    return RunPlan(runs, PlanningCapability(runs.catalogue))
