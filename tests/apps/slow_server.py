"""A server whose only tool answers when somebody writes to the named pipe that the script is given."""

import asyncio
import logging
import sys
from dataclasses import replace
from pathlib import Path

from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp.address import Address
from fingerpost.apps.mcp.http import serve_http
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.contract.envelope import Family
from fingerpost.contract.published import PublishedTool
from fingerpost.contract.wire import WireModel


class Nothing(WireModel):
    """No field."""


class Slow(PublishedTool):
    """Waits for the pipe."""

    name = "slow"
    title = "Slow"
    description = "Waits."
    family = Family.BOARD
    group = "core"
    input_model = Nothing
    output_shape = Nothing

    async def handle(self, arguments, call):
        logging.getLogger("fingerpost").info("the call is running")
        await asyncio.to_thread(Path(sys.argv[1]).read_text)
        return {}

    def describe(self, answer):
        return "done"


if __name__ == "__main__":
    start_logging()
    serve_http(replace(build(read_settings()), tools={"slow": Slow()}), Address("127.0.0.1", 0))
