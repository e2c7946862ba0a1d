"""An MCP Apps host for tests: a real browser that shows a view as the real server serves it."""

import json
import shutil
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client.extension import advertise

from fingerpost.apps.views.page import VIEW_BY_TOOL
from tests.apps import clients

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
# The policy of a host for a view that names no domains, as the specification has it.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
)
HOST = "http://host.test/"
VIEW = "http://sandbox.test/view"
PAGE = """<!doctype html><title>Host</title>
<style>body {{ margin: 0 }} iframe {{ border: 0; width: 100%; height: 100px; display: block }}</style>
<script>{script}</script>"""
# The first shows a page in half the time of the others.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
DEADLINE_MS = 20_000
NOW = "2026-03-10T08:00:00+02:00"
HOSTILE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
# Texts that come from feeds, operators and filings; words of the contracts and times stay as they are.
FOREIGN = {
    *("name", "stopName", "destination", "line", "lineName", "routeShortName", "headsign", "platform"),
    *("header", "text", "message", "address"),
    *("ticker", "metric_name", "unit", "filing_type", "accession_number", "dataset", "note", "disruptionNote"),
    *("DisruptionNote", "unknown", "walking", "timeZone"),
}


def connect(application, mode="auto", mime_types=(MIME_TYPE,)):
    extensions = [advertise(EXTENSION, {"mimeTypes": list(mime_types)})]
    return clients.connect(application, mode, extensions=extensions)


class Shown:
    """A view in its frame: what the host has heard, and what else was requested."""

    def __init__(self, page, requests):
        self.page = page
        self.requests = requests

    @property
    def frame(self):
        [frame] = [each for each in self.page.frames if each.url == VIEW]
        return frame

    async def hear(self, method):
        return [each["params"] for each in await self.page.evaluate("heard") if each.get("method") == method]

    async def hear_last(self, method, params):
        """Wait until the newest message of a method has these params: what a view sends arrives a moment later."""
        await self.page.wait_for_function(
            """([method, params]) => {
                const last = heard.filter((each) => each.method === method).at(-1)?.params;
                return last && Object.keys(params).every((key) => last[key] === params[key]);
            }""",
            arg=[method, params],
        )

    async def tell(self, context):
        message = {"method": "ui/notifications/host-context-changed", "params": context}
        await self.page.evaluate("send", message)

    async def tabs(self):
        for key in await self.evaluate_all("[role=tab]", "tab => tab.dataset.key") or [None]:
            if key is not None:
                await self.frame.click(f"[data-key={key}]")
            yield key

    async def evaluate_all(self, selector, function):
        return await self.frame.eval_on_selector_all(selector, f"all => all.map({function})")

    async def press(self, key):
        await self.frame.click(f"[data-key={key}]")
        await self.frame.wait_for_selector(f"[data-key={key}]:not([aria-disabled])")

    async def text(self):
        return await self.frame.inner_text("main")


def find_browser():
    pytest.importorskip("playwright", reason="no playwright here: make test-web installs it")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium here: on Debian, apt-get install chromium-headless-shell")
    return path


@asynccontextmanager
async def launching():
    path = find_browser()
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        await browser.close()


@asynccontextmanager
async def opening(browser, *, now=NOW, tolerated=None, **look):
    """Open an empty page at a time that stands still; at the end, assert that nothing failed in it.

    ``tolerated`` is in the messages of those failures that the test is about.
    """
    context = await browser.new_context(**look)
    page = await context.new_page()
    page.set_default_timeout(DEADLINE_MS)
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    await page.clock.set_fixed_time(now)
    yield page
    await context.close()
    assert [each for each in faults if tolerated is None or tolerated not in each] == []


@asynccontextmanager
async def showing(
    browser,
    client,
    view,
    result,
    *,
    arguments=None,
    width=700,
    scheme="light",
    context=None,
    capabilities=None,
    now=NOW,
):
    [contents] = (await client.read_resource(f"ui://fingerpost/{view}")).contents
    host = PAGE.format(script=(Path(__file__).parent / "host.js").read_text(encoding="utf-8"))
    requests = []

    async def serve(route):
        url = route.request.url
        requests.append(url)
        if url == HOST:
            await route.fulfill(body=host, content_type="text/html")
        elif url == VIEW:
            headers = {"Content-Security-Policy": POLICY}
            await route.fulfill(body=contents.text, content_type="text/html", headers=headers)
        else:
            await route.abort()

    async def call_tool(params):
        asked = json.loads(params)
        answer = await client.call_tool(asked["name"], asked["arguments"], meta=asked.get("_meta"))
        return answer.model_dump_json(by_alias=True, exclude_none=True)

    viewport = {"width": width, "height": 700}
    async with opening(browser, now=now, viewport=viewport, color_scheme=scheme) as page:
        shown = Shown(page, requests)
        await page.route("**/*", serve)
        await page.expose_function("callTool", call_tool)
        await page.goto(HOST)
        given = {
            "context": context or {},
            "capabilities": {"serverTools": {}, "openLinks": {}} if capabilities is None else capabilities,
            "input": arguments or {},
            "result": result,
        }
        await page.evaluate("show", given)
        await page.wait_for_function("heard.some((each) => each.method === 'ui/notifications/size-changed')")
        if result is not None:
            await shown.frame.wait_for_selector("h1, [role=alert]")
        yield shown


@asynccontextmanager
async def drawing(browser, tool, arguments, *, application, change=None, repeats=None, **look):
    """Call a tool, and show its result in the tool's view.

    ``change`` alters the result before; the view repeats the call with ``repeats``, where they are given.
    """
    async with connect(application) as client:
        answer = await ask(client, tool, arguments)
        if change is not None:
            change(answer)
        view, asked = VIEW_BY_TOOL[tool].name, arguments if repeats is None else repeats
        async with showing(browser, client, view, answer, arguments=asked, **look) as shown:
            shown.answer, shown.body = answer, answer["structuredContent"]
            yield shown


async def ask(client, tool, arguments):
    answer = await client.call_tool(tool, arguments)
    return answer.model_dump(by_alias=True, exclude_none=True, mode="json")


def infect(value, key=""):
    if isinstance(value, dict):
        return {name: infect(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [HOSTILE if isinstance(each, str) and key != "touches" else infect(each, key) for each in value]
    return HOSTILE if key in FOREIGN and isinstance(value, str) else value
