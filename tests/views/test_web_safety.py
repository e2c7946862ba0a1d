"""The web page in a real browser: markup, touch input, axe, and outgoing requests."""

import json

import pytest

from fingerpost.apps.cli.server_commands import publish_disruption
from fingerpost.apps.error_boundary import answer
from tests.views.hosting import HOSTILE, infect
from tests.views.test_web_page import BOARD, TO, TRIP

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_markup_in_names_is_text_on_the_page(visit):
    async with visit(None) as visitor:
        page = visitor.page

        async def spoil(route):
            got = await route.fetch()
            body = await got.json()
            for each in body["result"].get("contents", []):
                each["text"] = json.dumps(infect(json.loads(each["text"])))
            if "structuredContent" in body["result"]:
                body["result"]["structuredContent"] = infect(body["result"]["structuredContent"])
            await route.fulfill(response=got, json=body)

        await page.route("**/mcp", spoil)
        await visitor.open()
        texts = [await page.inner_text("body")]
        await page.fill("#from", "kamp")
        await page.wait_for_selector("[role=option]")
        texts.append(await page.inner_text("[role=listbox]:visible"))
        for search in (TRIP, BOARD):
            await visitor.open(search)
            texts.append(await page.inner_text(".view:visible"))
        hits = await page.evaluate("[window.hit ?? null, document.querySelectorAll('main img').length]")

    assert [HOSTILE in text for text in texts] == [True] * 4
    assert hits == [None, 0]


@pytest.mark.parametrize("width", [360, 1280])
async def test_a_page_has_large_targets_and_nothing_is_cut_off(visit, width):
    faults = []
    async with visit(None, width=width) as visitor:
        for search in ("", TRIP, BOARD):
            await visitor.open(search)
            faults += await visitor.page.evaluate(
                """() => [...document.querySelectorAll("button, select, input:not([type=checkbox])")]
                    .map((each) => [each.textContent || each.id, each.getBoundingClientRect()])
                    .filter(([, box]) => box.width && (box.width < 44 || box.height < 44))
                    .map(([text]) => text)"""
            )
            too_wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            faults += [search] if await visitor.page.evaluate(too_wide) else []

    assert faults == []


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
async def test_axe_finds_no_fault_on_the_page(application, visit, width, scheme):
    engine = pytest.importorskip("axe_playwright_python.base", reason="no axe here: make test-web installs it")
    place = {"key": "home", "type": "location", "value": {"lat": 60.17, "lon": 24.93}}
    await answer(application.tools, "save_user_variable", place, user="local")
    await publish_disruption(application)
    faults = []
    async with visit(width=width, scheme=scheme, bypass_csp=True) as visitor:
        page = visitor.page

        async def check(what):
            await page.evaluate(engine.AXE_SCRIPT)
            found = await page.evaluate("axe.run(document)")
            faults.extend((what, each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"])
            assert len(found["passes"]) > 10

        await page.fill("#from", "kamp")
        await page.wait_for_selector("[role=option]")
        await page.press("#from", "ArrowDown")
        await check("suggestions")
        await page.press("#from", "Escape")
        await visitor.type_place("to", TO)
        await page.press("#to", "Enter")
        await page.wait_for_selector(".candidates button")
        await check("unclear")
        await page.click("[aria-label='Save To']")
        for search in (TRIP, BOARD):
            await visitor.open(search)
            await check(search)

    assert faults == []
