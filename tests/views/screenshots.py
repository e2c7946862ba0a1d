"""Take the pictures of docs/views.md: ``python -m tests.views.screenshots FOLDER``, or ``make pictures``."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from fingerpost.apps.demo_disruption import disrupt_demo
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from tests.views.hosting import NOW, ask, connect, launching, showing
from tests.views.questions import QUESTIONS

# (colours, width in pixels, language of the host)
LOOKS = [("light", 640, "en"), ("dark", 360, "fi")]


async def take_all(folder):
    """Write one picture a view and look."""
    with tempfile.TemporaryDirectory() as home:
        application = build(read_settings(home=home))
        await disrupt_demo(application)
        async with launching() as browser, connect(application) as client:
            for view, (tool, arguments) in QUESTIONS.items():
                answer = await ask(client, tool, arguments)
                for scheme, width, locale in LOOKS:
                    path = folder / f"{view}-{scheme}.png"
                    look = {"scheme": scheme, "width": width, "context": {"locale": locale}}
                    async with showing(browser, client, view, answer, arguments=arguments, **look) as shown:
                        await shown.page.locator("iframe").screenshot(path=path)


if __name__ == "__main__":
    os.environ["FINGERPOST_NOW"] = NOW
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(take_all(target))
