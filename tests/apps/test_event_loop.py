"""Computation does not block the event loop: 300 mixed calls over HTTP here, 10,000 in `make soak`."""

import asyncio
import json
import os
import random
import time
from collections import Counter

import httpx2

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from tests.apps.clients import request_of
from tests.apps.generated_calls import CallDrawer
from tests.apps.processes import serving
from tests.event_loop import BLOCKED, reporting_blocking_callbacks

CALLS = 10_000 if os.environ.get("FINGERPOST_SOAK") else 300


def test_mixed_calls_over_http_never_block_the_event_loop(home):
    drawer = CallDrawer(build(read_settings()), random.Random(17))
    with serving(ready=True) as server, httpx2.Client(base_url=server.url, timeout=600) as client:
        statuses = Counter()
        for _ in range(CALLS):
            body, headers = request_of(*drawer.draw())
            statuses[client.post("/mcp", content=json.dumps(body), headers=headers).status_code] += 1

    assert statuses == {200: CALLS}


def test_the_debug_mode_reports_a_callback_that_computes(capsys):
    def compute_for(seconds):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    async def compute_once(seconds):
        compute_for(seconds)

    with reporting_blocking_callbacks(max_ms=50):
        asyncio.run(compute_once(0.0))
        asyncio.run(compute_once(0.06))

    assert capsys.readouterr().err.count(BLOCKED) == 1
