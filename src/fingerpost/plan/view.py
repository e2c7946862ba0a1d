"""Describe a plan run for its owner: progress, results, pending approvals and next action; draw a plan."""

import asyncio
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.size_bounds import MAX_BODY_BYTES
from fingerpost.contract.wire import omit_none
from fingerpost.plan.catalogue import HUMAN
from fingerpost.plan.limits import encode
from fingerpost.plan.memory import Memory, list_items
from fingerpost.plan.plan_json import plan_of
from fingerpost.plan.records import Event, RunRecord, StepRecord
from fingerpost.plan.references import walk
from fingerpost.plan.remarks import Remark, find_unresolved_path, list_remark_sentences, list_remarks
from fingerpost.plan.run_shapes import RunView
from fingerpost.plan.runs import PlanRuns, SeenState
from fingerpost.plan.validation import ValidPlan

Part = Literal["plan", "memory", "items", "events"]

# Large enough for the longest answer of plan_trip.
_MAX_VALUE_BYTES = 10_000
_MAX_EVENTS = 5_000
_MAX_REMARK_BYTES = 16_000
# The plan-step contract's status words.
_STATUS_OF_RUN = {"completed": "completed", "failed": "failed", "cancelled": "failed"}
_STATUS_OF_STEP = {"completed": "completed", "skipped": "completed", "failed": "failed", "waiting": "in_progress"}


async def describe_run(
    runs: PlanRuns,
    run: RunRecord,
    parts: Collection[Part] = (),
    after: int = 0,
    *,
    room_bytes: float = MAX_BODY_BYTES,
) -> RunView:
    """Return a JSON-ready run without null values; ``parts`` adds long parts, ``after`` drops earlier events.

    ``room_bytes`` limits all values together, and the outputs among the items. At most 5,000 events are returned; if
    the last one is not ``last_event``, there are more.
    """
    state = await runs.state_of(run)
    events = await runs.journal.list_events(run.run_id, 0)
    # In a thread, because a long run would delay other calls.
    return await asyncio.to_thread(_describe, runs, run, state, events, parts, after, room_bytes)


def _describe(
    runs: PlanRuns,
    run: RunRecord,
    state: SeenState,
    events: list[Event],
    parts: Collection[Part],
    after: int,
    room_bytes: float,
) -> RunView:
    plan = plan_of(run)
    begun = _find_begun(events) if state == "running" else set()
    memory = runs.memory_of(run)
    steps = [
        _step(step, run.steps.get(step.step_id), memory.response_of(step.step_id), is_begun=step.step_id in begun)
        for step in plan.steps
    ]
    waiting = [number for number, record in run.steps.items() if record.state == "waiting"]
    view: dict[str, Any] = {
        "run_id": run.run_id,
        "state": state,
        "goal": plan.goal,
        "status": _STATUS_OF_RUN.get(state, "in_progress"),
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
        "values": list(_values(memory.keyed(), memory.paths(), room_bytes)),
        "last_event": events[-1].seq if events else 0,
        "next": _next(state, waiting, steps),
        "resumable": state == "interrupted" or (state == "failed" and any(step["retryable"] for step in steps)),
        "remarks_left_out": _add_remarks(plan, steps, memory),
    }
    if "plan" in parts:
        view["plan"] = _serialize_plan(plan, view)
    if "memory" in parts:
        view["memory"] = memory.keyed()
    if "items" in parts:
        view["items"] = list_items(
            _serialize_plan(plan, view), run.created_at, _leave_out_long(run, room_bytes), events
        )
    if "events" in parts:
        later = [event for event in events if event.seq > after][:_MAX_EVENTS]
        view["events"] = [event._asdict() | {"data": event.data and json.loads(event.data)} for event in later]
    for name in ("steps", "values", "events"):
        if name in view:
            view[name] = [omit_none(dict, row) for row in view[name]]
    return omit_none(RunView, view)


def format_run(run: RunView) -> str:
    progress = run["progress"]
    head = f"{run['goal']}: {run['state']}, {progress['completed']} of {progress['total']} steps ({run['run_id']})"
    times = f"begun {run['created_at']}" + (f", ended {run['ended_at']}" if "ended_at" in run else "")
    replans = f", replanned {run['replans']} times" if run["replans"] else ""
    lines = [head, f"{times}{replans}, last event {run['last_event']}"]
    lines += [f"Step {step['step_id']}: {_format_run_state(step)}: {step['description']}" for step in run["steps"]]
    lines += list_step_lines(run["steps"], run["remarks_left_out"], "get_plan_run with include memory")
    left_out = (
        "too long to show: get_plan_run with include memory has it if it fits, and a plan with memory_of "
        f"{run['run_id']} takes parts of it by $ref and path"
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


def _format_run_state(step: Mapping[str, Any]) -> str:
    state = "skipped" if step["skipped"] else "waiting" if step["waiting"] else step["status"]
    at = f" at {step['completed_at']}" if "completed_at" in step else ""
    tries = f" after {step['attempts']} attempts" if step["attempts"] > 1 else ""
    return f"{state}{at}{tries}"


def _format_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def list_step_lines(steps: Iterable[Mapping[str, Any]], remarks_left_out: int, how_to_read: str) -> list[str]:
    lines = []
    for step in steps:
        name = f"Step {step['step_id']}"
        if step.get("error"):
            lines.append(f"{name} failed: {step['error']}")
        lines += [f"{name}: {words}" for remark in step["remarks"] for words in list_remark_sentences(Remark(**remark))]
    if remarks_left_out:
        more = f"{remarks_left_out} more remarks of the steps"
        lines.append(f"{more} are in the run's memory: {how_to_read}")
    return lines


def _find_begun(events: Collection[Event]) -> set[int]:
    """Return the steps begun since the run was last started or resumed; earlier ones have ended or are recorded."""
    begun: set[int] = set()
    for event in events:
        if event.kind in ("run_started", "run_resumed"):
            begun.clear()
        elif event.kind == "step_started" and event.step_id is not None:
            begun.add(event.step_id)
    return begun


def _step(step: PlanStep, record: StepRecord | None, response: Any, *, is_begun: bool) -> dict[str, Any]:
    """Return the state of a step as the contract's status and two flags; its remarks are added later."""
    answer = response if isinstance(response, dict) and response.get("success") is False else {}
    known = record.state if record is not None else None
    status = _STATUS_OF_STEP[known] if known is not None else "in_progress" if is_begun else "pending"
    return {
        "step_id": step.step_id,
        "description": step.description,
        "tool": step.tool,
        "agent": step.agent,
        "status": status,
        "skipped": known == "skipped",
        "waiting": known == "waiting",
        "completed_at": record.at if record is not None and status == "completed" else None,
        "attempts": record.attempts if record is not None else 0,
        "error": record.note if record is not None and known == "failed" else None,
        "error_code": answer.get("error_code"),
        "retryable": _is_retryable(answer) if known == "failed" else None,
        "remarks": [],
    }


def _is_retryable(failure: dict[str, Any]) -> bool:
    if failure.get("output_key") == HUMAN:
        return False
    return failure.get("retryable") is not False or failure.get("error_code") == "unknown_error"


def _add_remarks(plan: Plan, steps: Collection[dict[str, Any]], memory: Memory) -> int:
    """Add its tool's remarks to each step, failed steps first, and return how many were too large."""
    left_out, left = 0, _MAX_REMARK_BYTES
    by_id = {step.step_id: step for step in plan.steps}
    for step in sorted(steps, key=lambda step: step["status"] != "failed"):
        response = memory.response_of(step["step_id"])
        found = [remark for remark in list_remarks(response) if remark.value != step["error"]]
        if step["status"] == "completed" and response is not None:
            dead = find_unresolved_path(response, by_id[step["step_id"]].output_path)
            found = [*([Remark("missing", "output_path", dead)] if dead else []), *found]
        for remark in found:
            size = len(encode(remark.value))
            if size > left:
                left_out += 1
                continue
            left -= size
            step["remarks"].append(remark._asdict())
    return left_out


def _serialize_plan(plan: Plan, view: dict[str, Any]) -> dict[str, Any]:
    completed_at = view["ended_at"] if view["state"] == "completed" else None
    serialized = plan.model_dump() | {"status": view["status"], "completed_at": completed_at}
    by_id = {step["step_id"]: step for step in view["steps"]}
    for step in serialized["steps"]:
        step |= {name: by_id[step["step_id"]][name] for name in ("status", "completed_at", "skipped")}
    return serialized


def _leave_out_long(run: RunRecord, room_bytes: float) -> dict[int, StepRecord]:
    found, left = {}, room_bytes
    for number, record in run.steps.items():
        size = len(record.output or "")
        found[number] = record if size <= left else record._replace(output=encode({"left_out": f"{size:,} bytes"}))
        left -= size if size <= left else 0
    return found


def _values(memory: dict[str, Any], paths: dict[str, list[str]], room_bytes: float) -> Iterator[dict[str, Any]]:
    left = room_bytes
    for key, response in memory.items():
        value = walk(response, paths.get(key, []))
        max_bytes = left if math.isinf(room_bytes) else min(left, _MAX_VALUE_BYTES)
        size = len(encode(value))
        is_out = size > max_bytes
        left -= 0 if is_out else size
        yield {"key": key, "value": None if is_out else value, "left_out": is_out}


def _next(state: SeenState, waiting: list[int], steps: Collection[dict[str, Any]]) -> str | None:
    resume = "run_plan with action resume continues the run"
    if state == "waiting":
        return f"A person must decide on step {waiting[0]}: run_plan with action approve or reject, run_id and step_id"
    if state == "running":
        return "Call get_plan_run again; run_plan with action cancel ends the run"
    if state == "interrupted":
        return resume
    permanent = [str(step["step_id"]) for step in steps if step["status"] == "failed" and not step["retryable"]]
    if state != "failed" or not permanent:
        return resume if state == "failed" else None
    change = (
        f"Failed for good: step {', '.join(permanent)}. run_plan with action replace changes the unfinished steps; "
        "with a new plan and memory_of it reuses the results"
    )
    return f"{resume}; {change}" if any(step["retryable"] for step in steps) else change


_MAX_CHARS = 60


def draw(valid: ValidPlan) -> str:
    """Return a Mermaid flowchart of the steps; arrows are declared and inferred dependencies."""
    places = {number: index for index, number in enumerate(valid.steps)}
    lines = ["flowchart TD"]
    for number, ready in valid.steps.items():
        lines.append(f'  s{places[number]}["{number}. {_plain(ready.step.description)}<br/>{_plain(ready.performer)}"]')
    for number, ready in valid.steps.items():
        lines += [f"  s{places[before]} --> s{places[number]}" for before in ready.dependencies]
    return "\n".join(lines)


def _plain(text: str) -> str:
    short = text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"
    flat = "".join(letter if letter.isprintable() else " " for letter in short)
    return "".join(f"#{ord(letter)};" if letter in '"<>&#;`\\[](){}|' else letter for letter in flat)
