"""Goals, and the planner protocol."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from fingerpost.contract.plan import Plan
from fingerpost.plan.catalogue import Catalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The goal of a plan.

    Attributes:
        text: in the asker's words.
        wanted: the memory keys that must be there in the end, where the asker can name them.
        known: values by name, which may serve as parameters.
    """

    text: str
    wanted: tuple[str, ...] = ()
    known: Mapping[str, Any] = field(default_factory=dict)


class Planner(Protocol):
    """Writes plans for goals; its plans are validated like any other."""

    async def plan(self, goal: Goal, catalogue: Catalogue, memory: Collection[str]) -> Plan | None:
        """Return a plan; None where goals of this kind are not this planner's.

        Raises:
            PlanInvalid: the goal is this planner's, and something is missing; it is named, never made up.
        """
