"""How somebody walks: the pace, and what stairs, lights, lifts and turns cost."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.streets.graph import BLOCKED, LIFT, LIGHTS, MOVING, STEPS, StreetGraph
from fingerpost.transit.timetable.timetable import Float32
from fingerpost.transit.timetable.walking import PACE_M_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkingProfile:
    """How somebody walks. The defaults are a rider's; see decision 0480.

    Attributes:
        pace_m_per_s: on the level.
        steps_times: how many times longer a metre of steps takes.
        steps_avoided: how many times worse a second on steps counts when ways are compared.
        escalator_m_per_s: on an escalator.
        lights_s: the wait at each light for walkers.
        lift_s: the wait and the ride at each lift.
        turn_degrees_per_m: a turn of so many degrees takes as long as a metre; 0 where turns take no time.
        step_free: no steps and no escalators.
    """

    pace_m_per_s: float = PACE_M_PER_S
    steps_times: float = 3.0
    steps_avoided: float = 2.0
    escalator_m_per_s: float = 0.45
    lights_s: float = 15.0
    lift_s: float = 60.0
    turn_degrees_per_m: float = 0.0
    step_free: bool = False


RIDER = WalkingProfile()
STEP_FREE = WalkingProfile(step_free=True)


class Weights(NamedTuple):
    """A graph's weights for one way of walking.

    Attributes:
        edge_s: seconds along each edge.
        edge_cost: what ways are compared by: seconds, times how much worse they count; infinite where barred.
        node_s: seconds at each node that is walked past.
        is_blocked: nodes that nobody walks past.
        turn_s_per_degree: seconds for each degree of a turn.
    """

    edge_s: Float32
    edge_cost: Float32
    node_s: Float32
    is_blocked: npt.NDArray[np.bool_]
    turn_s_per_degree: float


def weigh(graph: StreetGraph, profile: WalkingProfile) -> Weights:
    """Return the weights of a graph's edges and nodes for one way of walking."""
    is_steps, is_moving = graph.edge_flags & STEPS != 0, graph.edge_flags & MOVING != 0
    seconds = graph.edge_m / profile.pace_m_per_s
    seconds = np.where(is_steps, seconds * profile.steps_times, seconds)
    seconds = np.where(is_moving, graph.edge_m / profile.escalator_m_per_s, seconds)
    cost = seconds * graph.edge_avoided
    cost = np.where(is_steps & ~is_moving, cost * profile.steps_avoided, cost)
    if profile.step_free:
        cost = np.where(is_steps, np.inf, cost)
    lights, lifts = graph.node_flags & LIGHTS != 0, graph.node_flags & LIFT != 0
    turn = profile.turn_degrees_per_m * profile.pace_m_per_s
    return Weights(
        edge_s=seconds.astype(np.float32),
        edge_cost=cost.astype(np.float32),
        node_s=(lights * profile.lights_s + lifts * profile.lift_s).astype(np.float32),
        is_blocked=graph.node_flags & BLOCKED != 0,
        turn_s_per_degree=1.0 / turn if turn else 0.0,
    )
