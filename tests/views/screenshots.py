"""Take the screenshots for the documents: ``python -m tests.views.screenshots FOLDER``, or ``make pictures``."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from fingerpost.apps.cli.server_commands import publish_disruption
from fingerpost.apps.settings import read_settings
from fingerpost.apps.views.page import VIEW_BY_TOOL
from fingerpost.apps.wiring import build
from tests.views.hosting import NOW, ask, connect, launching, showing
from tests.views.questions import QUESTIONS
from tests.views.web_visit import visiting

# (colours, width in pixels, language of the host)
LOOKS = [("light", 640, "en"), ("dark", 360, "fi")]


async def take_all(folder):
    with tempfile.TemporaryDirectory() as home:
        application = build(read_settings(home=home))
        await publish_disruption(application)
        async with launching() as browser, connect(application) as client:
            for tool in ("get_departures", "plan_trip", "sec_financial_data"):
                view, arguments = VIEW_BY_TOOL[tool].name, QUESTIONS[tool]
                answer = await ask(client, tool, arguments)
                for scheme, width, locale in LOOKS:
                    path = folder / f"{view}-{scheme}.png"
                    look = {"scheme": scheme, "width": width, "context": {"locale": locale}}
                    async with showing(browser, client, view, answer, arguments=arguments, **look) as shown:
                        await shown.page.locator("iframe").screenshot(path=path)
            await take_page(browser, application, folder)


async def take_page(browser, application, folder):
    ends = "?from=DEMO-HELSINKI:KAMPPI&to=60.2055,24.6559"
    looks = [
        ("web-light", "light", 960, "en-GB", ends, {"x": 0, "y": 0, "width": 960, "height": 620}),
        ("web-dark", "dark", 360, "fi-FI", "?stop=DEMO-HELSINKI:KAMPPI", {"x": 0, "y": 0, "width": 360, "height": 800}),
    ]
    for name, scheme, width, locale, search, clip in looks:
        async with visiting(browser, application, search, width=width, scheme=scheme, locale=locale) as visitor:
            await visitor.page.screenshot(path=folder / f"{name}.png", clip=clip)


if __name__ == "__main__":
    os.environ["FINGERPOST_NOW"] = NOW
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(take_all(target))
