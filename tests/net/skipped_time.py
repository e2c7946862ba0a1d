"""Time that passes at once: the event loop's clock moves on while a slow server is all that there is to wait for."""

import asyncio

_IDLE_S = 0.05


def skip_waits(loop):
    """Return ``take_s(seconds)``, with which a server of this loop is slow; deadlines then pass without a wait."""
    read_s, select, skipped_s, slow = loop.time, loop._selector.select, 0.0, 0

    def select_or_skip(timeout):
        nonlocal skipped_s
        ready = select(min(timeout, _IDLE_S) if slow and timeout else timeout)
        if slow and timeout and not ready:
            skipped_s += timeout
        return ready

    async def take_s(seconds):
        nonlocal slow
        slow += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            slow -= 1

    loop.time, loop._selector.select = lambda: read_s() + skipped_s, select_or_skip
    return take_s
