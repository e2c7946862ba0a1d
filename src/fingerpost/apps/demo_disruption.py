"""A disruption of the demo network, as the simulator plays it."""

import asyncio
from typing import TYPE_CHECKING

from fingerpost import clock

if TYPE_CHECKING:
    from fingerpost.apps.wiring import Application

_NETWORK = "DEMO-HELSINKI"
# Real time that is older is called stale.
_ANEW_S = 60


async def disrupt_demo(application: "Application") -> None:
    """Publish what the simulator says now on the demo network, as a realtime source would."""
    # The engine and the bindings take longer to import than --help may last.
    from fingerpost.transit.gtfs.realtime import RealtimeIndex
    from fingerpost.transit.providers.embedded.network import EmbeddedNetwork
    from fingerpost.transit.providers.embedded.simulation import simulate_overlay
    from fingerpost.transit.timetable.service_days import local_day

    now = int(clock.now().timestamp())
    for network in (await application.networks.open()).list_owners(f"{_NETWORK}:KAMPPI"):
        # Whoever opens the demo is the embedded engine; only it has a timetable to play on.
        assert isinstance(network, EmbeddedNetwork)
        table = network.timetable
        overlay = await asyncio.to_thread(simulate_overlay, table, RealtimeIndex(table), now)
        await asyncio.to_thread(network.publish, overlay, local_day(now, network.profile.zone))


async def keep_disrupting_demo(application: "Application", after_s: float) -> None:
    """Let the simulator begin after a while, and play on until this is cancelled."""
    await asyncio.sleep(after_s)
    while True:
        await disrupt_demo(application)
        await asyncio.sleep(_ANEW_S)
