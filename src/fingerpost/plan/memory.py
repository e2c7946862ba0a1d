"""The memory of a run: its recorded outputs, by memory key (rule F4)."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from fingerpost.contract.plan import PlanStep
from fingerpost.errors import ParameterError
from fingerpost.plan.limits import encode
from fingerpost.plan.records import Event, InitialMemory, RunRecord
from fingerpost.plan.references import ParameterPath, Reference, get_at_path
from fingerpost.plan.responses import list_remarks
from fingerpost.plan.validation import ReadyStep, ValidPlan


class Memory:
    """The initial values and recorded outputs of a run; a step sees only the outputs of its dependencies."""

    def __init__(self, valid: ValidPlan, initial: InitialMemory, outputs: Mapping[int, str]) -> None:
        self._valid = valid
        self._initial = initial
        self._outputs = dict(outputs)
        self._responses: dict[int, Any] = {}
        self.bytes = sum(map(len, self._outputs.values()))

    def store(self, step_id: int, output: str) -> None:
        self._outputs[step_id] = output
        self.bytes += len(output)

    def get_response(self, step_id: int) -> Any:
        """Return the recorded response of a step, or None; callers must not change it."""
        if step_id not in self._responses and step_id in self._outputs:
            self._responses[step_id] = json.loads(self._outputs[step_id])
        return self._responses.get(step_id)

    def find_value(self, ready: ReadyStep) -> tuple[bool, Any, Any]:
        """Return (has value, value, response) for a step's key; only a successful response has a value."""
        if ready.key is None:
            return False, None, None
        response = self._find_response(ready.key, self._valid.find_writer(ready.step.step_id, ready.key))
        if response is None or _is_failure(response):
            return False, None, response
        value = get_at_path(response, ready.step.output_path or [])
        return value is not None, value, response

    def build_names(self, ready: ReadyStep, value: Any, response: Any) -> dict[str, Any]:
        ancestors = self._valid.ancestors[ready.step.step_id]
        names = {
            "value": value,
            "results": response.get("results") if isinstance(response, dict) else None,
            "memory": self._collect_by_key(number for number in ancestors if number in self._outputs),
        }
        if ready.key is not None:
            names.setdefault(ready.key, response)
        return names

    def to_dict(self) -> dict[str, Any]:
        return self._collect_by_key(self._outputs)

    def list_paths(self) -> dict[str, list[str]]:
        """Return the path of each key's value in its response, for runs that start from this memory."""
        paths = {key: step.output_path or [] for key, step in self._list_written(self._outputs)}
        return {**self._initial.paths, **paths}

    def resolve(self, ready: ReadyStep, max_bytes: int) -> Mapping[ParameterPath, Any]:
        """Resolve a step's references; raise ParameterError if a value is missing or the values are too large."""
        values = {}
        bytes_left = max_bytes
        for reference in ready.references:
            path = ".".join(map(str, reference.location))
            source = self._valid.find_writer(ready.step.step_id, reference.key)
            value = self._resolve_reference(reference, source, path)
            text = encode(value)
            bytes_left -= len(text)
            if bytes_left < 0:
                message = f"The values that the step refers to, up to {path}, exceed {max_bytes:,} bytes of JSON"
                raise ParameterError(message, {"field": path})
            # Copy the value, because a tool may change its parameters.
            values[reference.location] = json.loads(text) if isinstance(value, dict | list) else value
        return values

    def _resolve_reference(self, reference: Reference, source: int | None, path: str) -> Any:
        response = self._find_response(reference.key, source)
        reason = f"no step has stored '{reference.key}'"
        if response is not None:
            reason = "the step that provides it failed"
            if not _is_failure(response):
                if reference.path is not None:
                    value = reference.find_in(response)
                elif source is not None:
                    value = get_at_path(response, self._valid.steps[source].step.output_path or [])
                else:
                    value = get_at_path(response, self._initial.paths.get(reference.key, []))
                if value is not None:
                    return value
                reason = "nothing exists at its path"
        if reference.has_default:
            return reference.default
        # Report the earlier step's remarks, because the user must act on them; the first of each kind counts.
        remarks = reversed(list_remarks(response))
        kinds = ("missing", "did_you_mean", "candidates")
        details: dict[str, Any] = {each["kind"]: each["value"] for each in remarks if each["kind"] in kinds}
        hint = None
        if "candidates" in details and source is not None:
            reason = f"step {source} returned candidates"
            hint = f"Choose a candidate from step {source}, and use its token instead of the text"
        message = f"The {reference}, in parameters.{path}, has no value: {reason}"
        raise ParameterError(message, {"field": path, **details}, hint=hint)

    def _find_response(self, key: str, source: int | None) -> Any:
        return self._initial.values.get(key) if source is None else self.get_response(source)

    def _collect_by_key(self, numbers: Iterable[int]) -> dict[str, Any]:
        responses = {key: self.get_response(step.step_id) for key, step in self._list_written(numbers)}
        return {**self._initial.values, **responses}

    def _list_written(self, numbers: Iterable[int]) -> list[tuple[str, PlanStep]]:
        """Return the memory keys that steps wrote, with the steps, in dependency order."""
        planned = [number for number in numbers if number in self._valid.steps]
        ordered = sorted(planned, key=lambda number: (len(self._valid.ancestors[number]), number))
        return [
            (ready.key, ready.step) for ready in map(self._valid.steps.__getitem__, ordered) if ready.key is not None
        ]


def list_items(
    run: RunRecord, plan: Mapping[str, Any], events: Iterable[Event], max_outputs_bytes: float = math.inf
) -> list[dict[str, Any]]:
    """Return a run's memory items (plan, tool_result, tool_error, step_skipped, step_failed) in order (F4).

    Outputs beyond a total of ``max_outputs_bytes`` are replaced by their size.
    """
    items: list[dict[str, Any]] = [
        {"type": "plan", "goal": plan["goal"], "plan": dict(plan), "timestamp": run.created_at}
    ]
    bytes_left = max_outputs_bytes
    by_id: dict[int | None, Any] = {step["step_id"]: step for step in plan["steps"]}
    for event in events:
        data = json.loads(event.data) if event.data is not None else {}
        if event.kind == "plan_changed":
            items.append({"type": "plan", **data, "timestamp": event.at})
        if (step := by_id.get(event.step_id)) is None:
            continue
        head = {name: step[name] for name in ("step_id", "description", "tool")}
        if event.kind == "step_completed":
            record = run.steps.get(step["step_id"])
            text = record.output if record is not None and record.output is not None else "null"
            result = json.loads(text) if len(text) <= bytes_left else {"left_out": f"{len(text):,} bytes"}
            bytes_left -= len(text) if len(text) <= bytes_left else 0
            key = step["expected_key"]
            items.append({"type": "tool_result", **head, "key": key, "result": result, "timestamp": event.at})
        elif event.kind == "step_skipped":
            fields = {name: step[name] for name in ("expected_key", "output_path", "done_check")}
            items.append({"type": "step_skipped", **head, **fields, "reason": data["reason"], "timestamp": event.at})
        elif event.kind in ("attempt_failed", "step_failed"):
            kind = "tool_error" if event.kind == "attempt_failed" else "step_failed"
            items.append({"type": kind, **head, **data, "timestamp": event.at})
    return items


def _is_failure(response: Any) -> bool:
    return isinstance(response, dict) and response.get("success") is False
