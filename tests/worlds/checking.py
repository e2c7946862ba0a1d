"""Check a world as ``fingerpost network check`` does."""

import asyncio
from functools import partial

from fingerpost.apps import error_boundary
from fingerpost.transit.check.check_report import CheckReport, Origin
from fingerpost.transit.check.raw_feed import RawFeed
from fingerpost.transit.check.run import run_checks
from fingerpost.transit.check.trial import open_trial
from tests.worlds.opening import OpenWorld


def check_world(opened: OpenWorld, folder, *, questions: int) -> CheckReport:
    feeds = [RawFeed(feed.feed_name or "WORLD", feed.path) for feed in opened.feeds]
    ask = partial(error_boundary.answer, opened.tools, user=None)
    trial = open_trial(folder, opened.network, feeds, ask)
    return asyncio.run(run_checks(trial, opened.world.days[0], questions=questions, seed=opened.world.seed))


def list_program_faults(report: CheckReport) -> list[tuple[str, int, str]]:
    """Return the faults of the program: code, count and first example."""
    return [
        (fault.code, fault.count, fault.examples[0])
        for result in report.results
        for fault in result.faults
        if fault.origin is Origin.PROGRAM
    ]
