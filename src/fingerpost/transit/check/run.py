"""Run all checks on a network."""

import random
from collections.abc import Callable
from datetime import date

import numpy as np

from fingerpost.transit.check.check_report import CheckReport, CheckResult, Observation, summarize
from fingerpost.transit.check.questions import draw_questions
from fingerpost.transit.check.trial import Trial, compare_rows, list_import_faults
from fingerpost.transit.check.trips import check_stops, check_trip

MAX_STOPS_FOR_WALK_CHECKS = 1000

Progress = Callable[[str, int, int | None], None]
"""Called with the step, the completed amount, and the total."""


async def run_checks(
    trial: Trial, today: date, *, questions: int, seed: int, progress: Progress = lambda _step, _done, _total: None
) -> CheckReport:
    """Run all checks, with about ``questions`` random trips; the same seed produces the same trips."""
    rng = random.Random(seed)  # noqa: S311  (questions, not secrets)
    row_observations = [*list_import_faults(trial, today), *compare_rows(trial)]
    rows = sum(feed.events for feed in trial.report.feeds)
    results: list[CheckResult] = [summarize("rows", rows, "stop times", row_observations)]
    boardable = trial.boardable_stops.tolist()
    stops = np.array(sorted(rng.sample(boardable, min(MAX_STOPS_FOR_WALK_CHECKS, len(boardable)))), np.int64)
    if trial.network.walks.streets is not None:
        results.append(summarize("walks", len(stops), "stops", check_stops(trial, stops)))
    drawn = draw_questions(trial, rng, questions)
    observations: list[Observation] = []
    for number, question in enumerate(drawn):
        progress("planning trips", number, len(drawn))
        observations += await check_trip(trial, question)
    results.append(summarize("trips", len(drawn), "questions", observations))
    return CheckReport(network=trial.report.network, days=trial.report.days, seed=seed, results=tuple(results))
