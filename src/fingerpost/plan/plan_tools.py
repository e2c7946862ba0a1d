"""The MCP tools run_plan and get_plan_run, and the planners that turn a goal into a plan (rule F6)."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, cast, final

from pydantic import Field, WithJsonSchema

from fingerpost.contract.envelope import Contract
from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.published_tool import Call, Output, PublishedTool, ToolDefinition, ToolReply
from fingerpost.contract.tool import failure_response, success_response
from fingerpost.contract.wire import SnakeCaseModel, TruncationNotice, WholeNumber, WireDict, WireModel
from fingerpost.errors import ParameterError, PlanInvalid, StorageUnavailable
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.records import ReportedState, RunSummary, now, read_plan
from fingerpost.plan.runs import PlanRuns
from fingerpost.plan.validation import validate_plan
from fingerpost.plan.view import Part, Recorded, RunValue, RunView, describe_run, format_run
from fingerpost.runtime.company_names import WELL_KNOWN, build_name_key

Planner = Callable[[str, Catalogue, Mapping[str, Any]], Awaitable[Plan | None]]
"""Builds a plan from a goal's text, a catalogue and the memory; returns None for goals that it does not support.

It raises PlanInvalid and names missing values instead of inventing them. Its plans are validated afterward.
"""

_TICKER = re.compile(r"[A-Z]{1,5}(?:[.-][A-Z])?")
_YEAR = r"(?:the\s+)?(?P<year>(?:fiscal\s+(?:year\s+)?|FY\s?)?(?:19|20)\d\d)"
_EXAMPLE = "Get Apple's revenue for 2022"
_SENTENCE = re.compile(
    r"(?:get|find|what was|show)\s+(?P<company>[\w .&-]{1,60}?)['\u2019]s?\s+(?P<metric>[\w -]{1,60}?)"
    rf"\s+(?:for|in)\s+{_YEAR}\s*[.?]?",
    re.IGNORECASE,
)


async def plan_from_template(goal: str, _catalogue: Catalogue, _memory: Mapping[str, Any]) -> Plan | None:
    """Create a plan for a sentence like ``Get Apple's revenue for 2022``, the example in the plan-step contract."""
    match = _SENTENCE.fullmatch(goal.strip())
    if match is None:
        return None
    company, name, year = (match[field].strip() for field in ("company", "metric", "year"))
    ticker = WELL_KNOWN.get(build_name_key(company)) or (company if _TICKER.fullmatch(company) else None)
    if ticker is None:
        raise PlanInvalid(f"The ticker for '{company}' is unknown", {"field": "ticker"}, hint="Use the ticker instead")
    metric, number = name[:1].upper() + name[1:], year[-4:]
    # "2022" means the calendar year, as in the plan-step contract; "fiscal 2022" means the fiscal year.
    period = {"start_date": f"{number}-01-01", "end_date": f"{number}-12-31"} if year == number else {"period": number}
    step = PlanStep(
        step_id=1,
        description=f"Get {company}'s {name} for {year}",
        tool="sec_financial_data",
        parameters={"query_type": "financial_facts", "parameters": {"ticker": ticker, "metrics": [metric], **period}},
        expected_key=f"{name.lower().replace(' ', '_')}_data",
        output_path=["data", metric],
        done_check="True",
    )
    return Plan(goal=goal, steps=[step], created_at=now())


class PlanningCapability:
    """Tries the template, then ``planners``, and validates the plan from the first that accepts the goal."""

    def __init__(self, catalogue: Catalogue, planners: Sequence[Planner] = ()) -> None:
        self._catalogue = catalogue
        self._planners = (plan_from_template, *planners)

    async def create_plan(
        self, user_input: str, *, memory: Mapping[str, Any] | None = None, owner: str = "agent"
    ) -> Plan:
        """Return a validated plan for a goal, or raise PlanInvalid; ``memory`` contains initial values by key."""
        memory = memory or {}
        for planner in self._planners:
            plan = await planner(user_input, self._catalogue, memory)
            if plan is not None:
                validate_plan(plan, self._catalogue, memory=memory)
                return plan.model_copy(update={"owner": owner})
        raise PlanInvalid(
            "No planner supports this goal",
            {"field": "user_input"},
            hint=f"Phrase it like '{_EXAMPLE}', or send a plan with its steps",
        )


class RunPlanInput(SnakeCaseModel):
    """A plan to start, or an action on a run."""

    plan: Annotated[
        Any,
        Field(
            description="{goal, steps: [{step_id, description, tool, parameters, expected_key, output_path?, "
            'dependencies?, done_check?, agent?}]}; {"$ref": key, "path"?: JMESPath, "default"?} uses a step\'s value'
        ),
        WithJsonSchema({"type": "object"}),
    ] = None
    user_input: Annotated[str | None, Field(max_length=2000, description="the goal in words, instead of plan")] = None
    memory: Annotated[Any, Field(description="initial values by key"), WithJsonSchema({"type": "object"})] = None
    memory_of: Annotated[str | None, Field(description="run_id of an earlier run: start with its memory")] = None
    run_id: Annotated[str | None, Field(description="required with action")] = None
    action: Literal["approve", "reject", "cancel", "resume", "replace"] | None = None
    step_id: Annotated[WholeNumber | None, Field(description="the step to approve or reject")] = None
    note: Annotated[str | None, Field(max_length=2000, description="reason for the decision")] = None
    value: Annotated[Any, Field(description="a value to pass on with the approval")] = None
    wait_seconds: Annotated[WholeNumber, Field(ge=0, le=60, description="how long to wait for the run to end")] = 20


class GetPlanRunInput(SnakeCaseModel):
    run_id: str | None = None
    include: Annotated[list[Part] | None, Field(max_length=4)] = None


class _StandardResponse(WireDict):
    query_type: str
    parameters: Recorded
    output_key: str
    success: bool
    left_out: NotRequired[list[TruncationNotice]]


@final
class RunAnswer(_StandardResponse):
    """The standard response; ``data`` is the run, and ``results`` are its values so far."""

    results: list[RunValue]
    error: NotRequired[str]
    data: RunView


@final
class RunsAnswer(_StandardResponse):
    """The standard response; ``results`` are the caller's runs, newest first."""

    results: list[RunSummary]


_TRUNCATABLE_PATHS = (
    ("results",),
    *(("data", part) for part in ("values", "steps", "waiting_for", "goal", "next")),
    *(("data", "plan", part) for part in ("steps", "goal")),
    *(("data", part) for part in ("memory", "items", "events")),
)
_CONTINUATION_HINT = (
    "The resource fingerpost://runs/RUN_ID has more; fingerpost runs show RUN_ID --json prints everything. A plan "
    "whose memory_of is this run can use its values by $ref and path."
)
_RUN = Output(RunAnswer, _TRUNCATABLE_PATHS, _CONTINUATION_HINT)
_RUNS = Output(RunsAnswer, _TRUNCATABLE_PATHS, _CONTINUATION_HINT)


class RunPlan(PublishedTool):
    definition = ToolDefinition(
        name="run_plan",
        title="Run a plan",
        description=(
            "Run a plan of many tool calls: validated first, run in parallel, resumable after a crash. Returns when "
            "the run ends or after wait_seconds; then use get_plan_run with run_id. With run_id and action: "
            "approve, reject, cancel, resume or replace (the unfinished steps, with those in plan)."
        ),
        contract=Contract.STEP,
        groups=("plans",),
        input_model=RunPlanInput,
        outputs=(_RUN,),
        read_only=False,
        destructive=True,
        idempotent=False,
        accepts_large_values=True,
    )

    def __init__(self, runs: PlanRuns, planning: PlanningCapability) -> None:
        self._runs = runs
        self._planning = planning

    async def handle(self, arguments: RunPlanInput, call: Call) -> ToolReply:
        return await asyncio.shield(self._answer(arguments, call))

    async def _answer(self, arguments: RunPlanInput, call: Call) -> ToolReply:
        runs, user, run_id = self._runs, call.user, arguments.run_id
        is_cancel = arguments.action == "cancel"
        if not is_cancel and not runs.is_running(run_id or ""):
            runs.check_capacity(call.caller)
        if run_id is None:
            run_id = await self._create(arguments, user)
        else:
            await self._apply_action(run_id, arguments, user)
        if not is_cancel and not runs.is_running(run_id):
            runs.start(run_id, call.caller)
        # With the id, a caller that disconnects can read the run later.
        call.report(0, 1, f"Run {run_id}")
        try:
            await runs.wait(run_id, arguments.wait_seconds)
        except StorageUnavailable:
            # If another process is executing the run, describe its record.
            if not await runs.journal.is_leased(run_id):
                raise
        data = await describe_run(runs, await runs.get(run_id, user))
        failed = [f"step {step['step_id']}: {step['error']}" for step in data["steps"] if step.get("error")]
        error = f"The plan failed at {'; '.join(failed)}"[:2000] if data["state"] == "failed" else None
        return ToolReply(_respond(self.name, arguments, data["values"], error, data=data), format_run(data))

    async def _create(self, arguments: RunPlanInput, user: str | None) -> str:
        if arguments.action is not None:
            raise ParameterError("action needs a run_id", {"field": "run_id"})
        if (arguments.plan is None) == (arguments.user_input is None):
            raise ParameterError("send plan, or user_input, or run_id with action", {"field": "plan"})
        memory = {} if arguments.memory is None else arguments.memory
        if not isinstance(memory, dict):
            raise PlanInvalid("memory must be an object that maps keys to values", {"field": "memory"})
        if arguments.plan is not None:
            plan = read_plan(arguments.plan, self._runs.limits)
        else:
            assert arguments.user_input is not None
            plan = await self._planning.create_plan(arguments.user_input, memory=memory)
        return await self._runs.create(plan, user=user, memory=memory, memory_of=arguments.memory_of)

    async def _apply_action(self, run_id: str, arguments: RunPlanInput, user: str | None) -> None:
        match arguments.action:
            case None:
                raise ParameterError("run_id needs an action; to read a run, use get_plan_run", {"field": "action"})
            case "cancel":
                await self._runs.cancel(run_id, user)
                if not self._runs.is_running(run_id) and not await self._runs.journal.is_leased(run_id):
                    # No process is executing the run, so end it here; no step is started.
                    await self._runs.execute(run_id)
            case "approve" | "reject":
                if arguments.step_id is None:
                    raise ParameterError(f"{arguments.action} needs a step_id", {"field": "step_id"})
                await self._runs.decide(
                    run_id,
                    user,
                    arguments.step_id,
                    approved=arguments.action == "approve",
                    note=arguments.note,
                    value=arguments.value,
                )
            case "replace":
                if arguments.plan is None:
                    raise ParameterError("replace needs a plan", {"field": "plan"})
                await self._runs.replace_unfinished(run_id, user, read_plan(arguments.plan, self._runs.limits))
            case "resume":
                await self._runs.check_resumable(run_id, user)


def _respond(
    tool: str, arguments: WireModel, results: Sequence[Any], error: str | None = None, **more: Any
) -> dict[str, Any]:
    parameters = arguments.model_dump(mode="json", exclude_unset=True)
    if error is not None:
        return failure_response(tool, tool, parameters, error, additional_data=more)
    return success_response(tool, tool, parameters, results, more)


class GetPlanRun(PublishedTool):
    definition = ToolDefinition(
        name="get_plan_run",
        title="Read a plan run",
        description=(
            "The state of a run started by run_plan: progress, steps, partial results, pending approvals. "
            "include adds plan, memory, items or events. Without run_id: your runs."
        ),
        contract=Contract.STEP,
        groups=("plans",),
        input_model=GetPlanRunInput,
        outputs=(_RUN, _RUNS),
    )

    def __init__(self, runs: PlanRuns) -> None:
        self._runs = runs

    async def handle(self, arguments: GetPlanRunInput, call: Call) -> ToolReply:
        if arguments.run_id is None:
            if call.user is None:
                raise ParameterError("no user is signed in, so runs are not listed", hint="Send the run_id of a run")
            lines = []
            for summary in await self._runs.list_runs(call.user):
                state = await self._runs.find_state(summary["run_id"], cast("ReportedState", summary["state"]))
                lines.append(RunSummary(**{**summary, "state": state, "goal": summary["goal"][:200]}))
            text = "\n".join(map(_format_line, lines)) or "No runs."
            return ToolReply(_respond(self.name, arguments, lines), text, output=_RUNS)
        run = await self._runs.get(arguments.run_id, call.user)
        data = await describe_run(self._runs, run, arguments.include or ())
        return ToolReply(_respond(self.name, arguments, data["values"], data=data), format_run(data))


def _format_line(line: RunSummary) -> str:
    ended = f", ended {line['ended_at']}" if "ended_at" in line else ""
    steps = f"{line['completed']}/{line['total']}"
    goal = " ".join(line["goal"].split())
    return f"{line['run_id']} {line['state']} {steps}, started {line['created_at']}{ended}: {goal}"
