"""The process behind ``fingerpost worker``: it serves nobody, and carries on the runs of servers that died."""

import asyncio
import logging
import signal
import subprocess

from fingerpost.apps.plans import taking_over
from fingerpost.apps.warm_up import WarmUp
from fingerpost.apps.wiring import Application

_log = logging.getLogger(__name__)


async def work_on_plans(application: Application, compiler: subprocess.Popen[bytes] | None = None) -> None:
    """Take runs over until SIGTERM or an interrupt; those that are under way then are another's at once.

    ``compiler`` is the process that compiles the engine while this one answers uncompiled.
    """
    ended = asyncio.Event()
    for stop in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(stop, ended.set)
    warm_up = WarmUp(application.networks, compiler)
    warm_up.start()
    async with taking_over(application.plans.runs):
        _log.info("waiting for plan runs to take over")
        await ended.wait()
    application.plans.runs.journal.close()
    warm_up.leave()
    await application.networks.close()
