"""The process behind ``fingerpost worker``: it serves no calls, and recovers the plan runs of servers that died."""

import asyncio
import logging
import signal

from fingerpost.apps.plans import recovering
from fingerpost.apps.warm_up import WarmUp
from fingerpost.apps.wiring import Application

_log = logging.getLogger(__name__)


async def work_on_plans(application: Application, warm_up: WarmUp) -> None:
    """Recover runs until SIGTERM or an interrupt; another process recovers those that are under way then."""
    ended = asyncio.Event()
    for stop in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(stop, ended.set)
    warm_up.start()
    async with recovering(application.plans.runs):
        _log.info("waiting for plan runs to recover")
        await ended.wait()
    application.plans.runs.journal.close()
    warm_up.leave()
    await application.networks.close()
