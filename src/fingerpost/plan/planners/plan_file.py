"""Read plans from files."""

import json
from collections.abc import Collection
from pathlib import Path

from fingerpost.contract.plan import Plan
from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.limits import Limits
from fingerpost.plan.plan_json import read_plan
from fingerpost.plan.planners.goal import Goal


class FilePlanner:
    """A planner that returns the plan of one file for any goal."""

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        self._path = Path(path)
        self._limits = limits or Limits()

    async def plan(self, goal: Goal, catalogue: Catalogue, memory: Collection[str]) -> Plan | None:  # noqa: ARG002  (a planner's arguments)
        """Return the file's plan."""
        return read_plan_file(self._path, self._limits)


def read_plan_file(path: Path, limits: Limits | None = None) -> Plan:
    """Return the plan in a JSON file.

    Raises:
        PlanInvalid: the file cannot be read, is too large, or holds no plan.
    """
    limits = limits or Limits()
    try:
        with path.open("rb") as file:
            # Read no more than may be: a device or a log given by mistake has no end.
            text = file.read(limits.plan_bytes + 1)
    except OSError as error:
        raise PlanInvalid(f"The plan {path.name} cannot be read: {error.strerror}") from error
    return parse_plan(text, limits)


def parse_plan(text: bytes, limits: Limits) -> Plan:
    """Return the plan in a JSON text.

    Raises:
        PlanInvalid: it is too large, or no plan.
    """
    if len(text) > limits.plan_bytes:
        raise PlanInvalid(f"The plan is larger than {limits.plan_bytes:,} bytes")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise PlanInvalid(f"The plan is not JSON: {reason}") from error
    return read_plan(raw, limits)
