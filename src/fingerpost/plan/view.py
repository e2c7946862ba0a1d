"""Describe plan runs for their users: progress, results, approvals and the next action."""

import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.size_bounds import MAX_BODY_BYTES
from fingerpost.contract.wire import WireDict, omit_none
from fingerpost.plan.catalogue import HUMAN
from fingerpost.plan.limits import encode
from fingerpost.plan.memory import Memory, list_items
from fingerpost.plan.records import Event, ReportedState, RunRecord, StepRecord, read_recorded_plan
from fingerpost.plan.references import get_at_path
from fingerpost.plan.responses import Remark, explain_unresolved_path, list_remark_sentences, list_remarks
from fingerpost.plan.runs import PlanRuns
from fingerpost.runtime.concurrency import compute

Part = Literal["plan", "memory", "items", "events"]

# A JSON value from a record. It is not validated again, because validation takes up to 0.1 s.
Recorded = Any

# Large enough for the longest plan_trip response.
_MAX_VALUE_BYTES = 10_000
_MAX_REMARK_BYTES = 16_000
# The status values of the plan-step contract.
_RUN_STATUS = {"completed": "completed", "failed": "failed", "cancelled": "failed"}
_STEP_STATUS = {"skipped": "completed", "started": "in_progress", "waiting": "in_progress"}


class Progress(WireDict):
    completed: int
    failed: int
    total: int


class RunStep(WireDict):
    """A step of a run; if ``retryable`` is true, repeating the failed step may succeed."""

    step_id: int
    description: str
    tool: NotRequired[str]
    agent: NotRequired[str]
    status: Literal["pending", "in_progress", "completed", "failed"]
    skipped: bool
    waiting: bool
    completed_at: NotRequired[str]
    attempts: int
    error: NotRequired[str]
    error_code: NotRequired[str]
    retryable: NotRequired[bool]
    remarks: list[Remark]


class RunValue(WireDict):
    """A partial result: the value at a key's output path."""

    key: str
    value: NotRequired[Recorded]
    left_out: bool


class RunEvent(WireDict):
    seq: int
    at: str
    kind: str
    step_id: NotRequired[int]
    data: NotRequired[Recorded]


class RunView(WireDict):
    run_id: str
    state: ReportedState
    goal: str
    status: Literal["pending", "in_progress", "completed", "failed"]
    created_at: str
    ended_at: NotRequired[str]
    replans: int
    progress: Progress
    waiting_for: list[int]
    steps: list[RunStep]
    values: list[RunValue]
    next: NotRequired[str]
    resumable: Annotated[bool, Field(description="whether resuming may make progress")]
    remarks_left_out: Annotated[int, Field(description="how many; get_plan_run with include memory returns them")]
    plan: NotRequired[Recorded]
    memory: NotRequired[Recorded]
    items: NotRequired[list[Recorded]]
    events: NotRequired[list[RunEvent]]


async def describe_run(
    runs: PlanRuns, run: RunRecord, parts: Collection[Part] = (), *, max_values_bytes: float = MAX_BODY_BYTES
) -> RunView:
    """Describe a run as JSON without nulls; ``parts`` lists the optional parts to include.

    ``max_values_bytes`` limits the total size of the values; the same limit applies separately to the outputs in the
    memory items.
    """
    state = await runs.find_state(run.run_id, run.state)
    events = await runs.journal.list_events(run.run_id)
    # Use a thread, because describing a long run takes time.
    return await compute(_describe, runs, run, state, events, parts, max_values_bytes)


def _describe(
    runs: PlanRuns,
    run: RunRecord,
    state: ReportedState,
    events: list[Event],
    parts: Collection[Part],
    max_values_bytes: float,
) -> RunView:
    plan = read_recorded_plan(run)
    started = _find_started(events) if state == "running" else set()
    memory = runs.build_memory(run)
    steps = [
        _describe_step(
            step, run.steps.get(step.step_id), memory.get_response(step.step_id), is_started=step.step_id in started
        )
        for step in plan.steps
    ]
    waiting = [number for number, record in run.steps.items() if record.state == "waiting"]
    is_resumable = state == "interrupted" or (state == "failed" and any(step.get("retryable") for step in steps))
    view: dict[str, Any] = {
        "run_id": run.run_id,
        "state": state,
        "goal": plan.goal,
        "status": _RUN_STATUS.get(state, "in_progress"),
        "created_at": run.created_at,
        "ended_at": run.ended_at,
        "replans": run.replans,
        "progress": {
            "completed": sum(step["status"] == "completed" for step in steps),
            "failed": sum(step["status"] == "failed" for step in steps),
            "total": len(steps),
        },
        "waiting_for": waiting,
        "steps": steps,
        "values": list(_list_values(memory.to_dict(), memory.list_paths(), max_values_bytes)),
        "next": _suggest_next_action(state, waiting, is_resumable=is_resumable),
        "resumable": is_resumable,
        "remarks_left_out": _add_remarks(plan, steps, memory),
    }
    if "plan" in parts:
        view["plan"] = _serialize_plan(plan, view)
    if "memory" in parts:
        view["memory"] = memory.to_dict()
    if "items" in parts:
        view["items"] = list_items(run, _serialize_plan(plan, view), events, max_values_bytes)
    if "events" in parts:
        view["events"] = [
            omit_none(RunEvent, event._asdict() | {"data": event.data and json.loads(event.data)}) for event in events
        ]
    return omit_none(RunView, view)


def format_run(run: RunView) -> str:
    lines = list_run_lines(run, "get_plan_run with include memory")
    left_out = (
        "too long to show: get_plan_run with include memory returns it if it fits, and a plan with memory_of "
        f"{run['run_id']} can use parts of it by $ref and path"
    )
    lines += [
        f"{row['key']} = {left_out if row['left_out'] else _format_json(row.get('value'))}" for row in run["values"]
    ]
    lines += [f"{name}: {_format_json(run[name])}" for name in ("plan", "memory") if name in run]
    lines += [f"item: {_format_json(item)}" for item in run.get("items", ())]
    lines += [f"event: {_format_json(event)}" for event in run.get("events", ())]
    if "next" in run:
        lines.append(run["next"])
    return "\n".join(lines)


def _format_step_state(step: Mapping[str, Any]) -> str:
    state = "skipped" if step["skipped"] else "waiting" if step["waiting"] else step["status"]
    time = f" at {step['completed_at']}" if "completed_at" in step else ""
    attempts = f" after {step['attempts']} attempts" if step["attempts"] > 1 else ""
    return f"{state}{time}{attempts}"


def _format_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def list_run_lines(run: RunView, how_to_read_memory: str) -> list[str]:
    """Format a run's state and steps, and the remarks from its tools, as lines of text."""
    progress = run["progress"]
    head = f"{run['goal']}: {run['state']}, {progress['completed']} of {progress['total']} steps ({run['run_id']})"
    times = f"started {run['created_at']}" + (f", ended {run['ended_at']}" if "ended_at" in run else "")
    replans = f", replanned {run['replans']} time{'s' if run['replans'] > 1 else ''}" if run["replans"] else ""
    lines = [head, f"{times}{replans}"]
    lines += [f"Step {step['step_id']}: {_format_step_state(step)}: {step['description']}" for step in run["steps"]]
    for step in run["steps"]:
        name = f"Step {step['step_id']}"
        if step.get("error"):
            lines.append(f"{name} failed: {step['error']}")
        for remark in step["remarks"]:
            lines += [f"{name}: {sentence}" for sentence in list_remark_sentences(remark)]
    if run["remarks_left_out"]:
        left_out = f"Further remarks on the steps ({run['remarks_left_out']})"
        lines.append(f"{left_out} are in the run's memory: {how_to_read_memory}")
    return lines


def _find_started(events: Collection[Event]) -> set[int | None]:
    """Return the steps started since the run was last started or resumed."""
    begin = max((event.seq for event in events if event.kind in ("run_started", "run_resumed")), default=0)
    return {event.step_id for event in events if event.kind == "step_started" and event.seq > begin}


def _describe_step(step: PlanStep, record: StepRecord | None, response: Any, *, is_started: bool) -> RunStep:
    """Describe a step with its status and the flags ``skipped`` and ``waiting``; remarks are added later."""
    failure = response if isinstance(response, dict) and response.get("success") is False else {}
    is_retryable = failure.get("output_key") != HUMAN and (
        failure.get("retryable") is not False or failure.get("error_code") == "unknown_error"
    )
    state = record.state if record is not None else "started" if is_started else "pending"
    status = _STEP_STATUS.get(state, state)
    fields: dict[str, Any] = {
        "step_id": step.step_id,
        "description": step.description,
        "tool": step.tool,
        "agent": step.agent,
        "status": status,
        "skipped": state == "skipped",
        "waiting": state == "waiting",
        "completed_at": record.at if record is not None and status == "completed" else None,
        "attempts": record.attempts if record is not None else 0,
        "error": record.note if record is not None and state == "failed" else None,
        "error_code": failure.get("error_code"),
        "retryable": is_retryable if state == "failed" else None,
        "remarks": [],
    }
    return omit_none(RunStep, fields)


def _add_remarks(plan: Plan, steps: Collection[RunStep], memory: Memory) -> int:
    """Add the tools' remarks to the steps, failed steps first; return the number of omitted remarks."""
    left_out, bytes_left = 0, _MAX_REMARK_BYTES
    for planned, step in sorted(zip(plan.steps, steps, strict=True), key=lambda pair: pair[1]["status"] != "failed"):
        response = memory.get_response(step["step_id"])
        remarks = [remark for remark in list_remarks(response) if remark["value"] != step.get("error")]
        unresolved = explain_unresolved_path(response, planned.output_path) if step["status"] == "completed" else None
        if unresolved is not None and response is not None:
            remarks.insert(0, Remark(kind="missing", at="output_path", value=unresolved))
        for remark in remarks:
            size_bytes = len(encode(remark["value"]))
            if size_bytes > bytes_left:
                left_out += 1
                continue
            bytes_left -= size_bytes
            step["remarks"].append(remark)
    return left_out


def _serialize_plan(plan: Plan, view: dict[str, Any]) -> dict[str, Any]:
    completed_at = view["ended_at"] if view["state"] == "completed" else None
    serialized = plan.model_dump() | {"status": view["status"], "completed_at": completed_at}
    for step, step_view in zip(serialized["steps"], view["steps"], strict=True):
        step |= {name: step_view.get(name) for name in ("status", "completed_at", "skipped")}
    return serialized


def _list_values(memory: dict[str, Any], paths: dict[str, list[str]], max_bytes: float) -> Iterator[RunValue]:
    bytes_left = max_bytes
    for key, response in memory.items():
        value = get_at_path(response, paths.get(key, []))
        limit = bytes_left if math.isinf(max_bytes) else min(bytes_left, _MAX_VALUE_BYTES)
        size_bytes = len(encode(value))
        is_too_long = size_bytes > limit
        bytes_left -= 0 if is_too_long else size_bytes
        yield omit_none(RunValue, {"key": key, "value": None if is_too_long else value, "left_out": is_too_long})


def _suggest_next_action(state: ReportedState, waiting: list[int], *, is_resumable: bool) -> str | None:
    match state:
        case "waiting":
            decide = "call run_plan with action approve or reject, its run_id and step_id"
            return f"A person must decide on step {waiting[0]}: {decide}"
        case "running":
            return "Call get_plan_run again; run_plan with action cancel ends the run"
        case "interrupted" | "failed":
            actions = ["run_plan with action resume continues the run"] if is_resumable else []
            if state == "failed":
                actions.append("run_plan with action replace changes the unfinished steps")
                actions.append("run_plan with a new plan and memory_of reuses the results")
            return "; ".join(actions)
    return None
