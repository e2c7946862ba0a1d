"""A run as its owner sees it: how far it is, what it has found, what it waits for, and what to do next."""

import json
from collections.abc import Collection
from typing import Any, Literal

from fingerpost.plan.journal import RunRecord
from fingerpost.plan.memory import list_items
from fingerpost.plan.mermaid import draw
from fingerpost.plan.plan_json import plan_of
from fingerpost.plan.references import walk
from fingerpost.plan.runs import PlanRuns
from fingerpost.plan.weighing import encode

Part = Literal["plan", "memory", "items", "events", "mermaid"]

_MOST_VALUE_BYTES = 4_000
_MOST_EVENTS = 5_000


async def describe_run(runs: PlanRuns, run: RunRecord, parts: Collection[Part] = (), after: int = 0) -> dict[str, Any]:
    """Return a JSON-ready run; ``parts`` adds what is long, ``after`` leaves out earlier events.

    ``values`` are partial results: each key's value, or ``left_out`` where it is long and stands in the memory.
    """
    plan = plan_of(run)
    is_held = run.state == "running" and runs.journal.is_held(run.run_id)
    state = run.state if run.state != "running" or is_held else "interrupted"
    events = await runs.journal.list_events(run.run_id, 0, _MOST_EVENTS)
    begun = _under_way(events) if is_held else set()
    memory = runs.memory_of(run)
    shape = runs.shape_of(run)
    steps = []
    for step in plan.steps:
        record = run.steps.get(step.step_id)
        known = record.state if record is not None else None
        if known in ("completed", "skipped"):
            status = "completed"
        elif known == "failed":
            status = "failed"
        else:
            status = "in_progress" if known == "waiting" or step.step_id in begun else "pending"
        is_done = record is not None and status == "completed"
        steps.append(
            {
                "step_id": step.step_id,
                "description": step.description,
                "tool": step.tool,
                "agent": step.agent,
                "status": status,
                "skipped": known == "skipped",
                "waiting": known == "waiting",
                "completed_at": record.at if record is not None and is_done else None,
                "attempts": record.attempts if record is not None else 0,
                "error": record.note if record is not None and known == "failed" else None,
            }
        )
    waiting = [number for number, record in run.steps.items() if record.state == "waiting"]
    view: dict[str, Any] = {
        "run_id": run.run_id,
        "state": state,
        "goal": plan.goal,
        "status": {"completed": "completed", "failed": "failed", "cancelled": "failed"}.get(state, "in_progress"),
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
        "values": [_value(key, value) for key, value in _values(memory.keyed(), memory.paths())],
        "last_event": events[-1].seq if events else 0,
        "next": _next(state, waiting),
    }
    whole = plan.model_dump() | {
        "status": view["status"],
        "completed_at": run.ended_at if state == "completed" else None,
    }
    by_id = {step["step_id"]: step for step in steps}
    for step_dump in whole["steps"]:
        told = by_id[step_dump["step_id"]]
        step_dump |= {name: told[name] for name in ("status", "completed_at", "skipped")}
    if "plan" in parts:
        view["plan"] = whole
    if "memory" in parts:
        view["memory"] = memory.keyed()
    if "items" in parts:
        view["items"] = list_items(whole, run.created_at, run.steps, events)
    if "events" in parts:
        view["events"] = [
            {
                "seq": event.seq,
                "at": event.at,
                "kind": event.kind,
                "step_id": event.step_id,
                "data": json.loads(event.data) if event.data is not None else None,
            }
            for event in events
            if event.seq > after
        ]
    if "mermaid" in parts:
        view["mermaid"] = draw(shape, {number: record.state for number, record in run.steps.items()})
    return view


def say_run(view: dict[str, Any]) -> str:
    """Return a run as a text that stands alone."""
    progress = view["progress"]
    lines = [
        f"{view['goal']}: {view['state']}, {progress['completed']} of {progress['total']} steps ({view['run_id']})"
    ]
    lines += [f"Step {each['step_id']} failed: {each['error']}" for each in view["steps"] if each["error"]]
    lines += [
        f"{each['key']} = {encode(each['value']) if not each['left_out'] else 'too long to show'}"
        for each in view["values"]
    ]
    if view["next"]:
        lines.append(view["next"])
    return "\n".join(lines)


def _under_way(events: Collection[Any]) -> set[int]:
    begun: set[int] = set()
    for event in events:
        if event.kind in ("run_started", "run_resumed"):
            begun.clear()
        elif event.kind == "step_started" and event.step_id is not None:
            begun.add(event.step_id)
    return begun


def _values(memory: dict[str, Any], paths: dict[str, list[str]]) -> list[tuple[str, Any]]:
    return [(key, walk(response, paths.get(key, []))[1]) for key, response in memory.items()]


def _value(key: str, value: Any) -> dict[str, Any]:
    is_long = len(encode(value)) > _MOST_VALUE_BYTES
    return {"key": key, "value": None if is_long else value, "left_out": is_long}


def _next(state: str, waiting: list[int]) -> str | None:
    if state == "waiting":
        return f"A person must decide on step {waiting[0]}: run_plan with action approve or reject, run_id and step_id"
    if state == "running":
        return "Ask get_plan_run again; run_plan with action cancel ends it"
    if state in ("interrupted", "failed"):
        return "run_plan with action resume goes on where it stopped"
    return None
