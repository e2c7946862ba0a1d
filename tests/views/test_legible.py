"""No text overlaps other text, on any day, in any language, at any width, with large text."""

import pytest

from tests.views.questions import BOARD, JOURNEY, TRIP

TOMORROW = "2026-03-11T08:00:00+02:00"
BEFORE_MIDNIGHT = "2026-03-10T23:50:00+02:00"
ANOTHER_YEAR = "2027-01-05T08:00:00+02:00"
WIDTHS_PX = [320, 360, 520, 700, 1024, 1440]
LANGUAGES = ["fi", "sv", "en"]

# Text is compared line by line, and without the leading that lines of one paragraph share.
FIND_COVERED = """() => {
    const isRead = ({ textContent, parentElement: parent }) =>
        textContent.trim() && parent.checkVisibility() && !parent.closest(".unseen, svg, option");
    const boxes = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!isRead(node)) continue;
        const text = node.textContent;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const { left, right, top, bottom } of range.getClientRects()) {
            const leading = (bottom - top) / 5;
            if (right > left) boxes.push({ text, left, right, top: top + leading, bottom: bottom - leading });
        }
    }
    const isBeside = (one, other) => one.left + 1 >= other.right || one.top + 1 >= other.bottom;
    const covered = [];
    boxes.forEach((one, index) => {
        for (const other of boxes.slice(index + 1)) {
            if (!isBeside(one, other) && !isBeside(other, one)) covered.push([one.text, other.text]);
        }
        if (one.right > document.documentElement.clientWidth + 1) covered.push([one.text, "the edge"]);
    });
    return covered;
}"""
# In the style sheets, so that it holds when a view draws itself again.
DOUBLE_TEXT = """() => {
    const double = (rules) => {
        for (const rule of rules) {
            if (rule.cssRules?.length) double(rule.cssRules);
            if (rule.style?.fontSize.endsWith("px")) rule.style.fontSize = `${2 * parseFloat(rule.style.fontSize)}px`;
        }
    };
    for (const sheet of document.styleSheets) double(sheet.cssRules);
}"""
# A busy browser may report the size as set before the page has it, and the page draws itself again at the event.
EXPECT_WIDTH = """(width) => {
    window.hasWidth = innerWidth === width || new Promise((resolve) => {
        addEventListener("resize", () => { if (innerWidth === width) resolve(); });
    });
}"""
WAIT_UNTIL_DRAWN = "() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def list_covered(frame, page):
    covered = []
    for scale in (1, 2):
        if scale == 2:
            await frame.evaluate(DOUBLE_TEXT)
        for width in WIDTHS_PX:
            await page.evaluate(EXPECT_WIDTH, width)
            await page.set_viewport_size({"width": width, "height": 900})
            await page.evaluate("() => window.hasWidth")
            await frame.evaluate(WAIT_UNTIL_DRAWN)
            covered += [(width, scale, *pair) for pair in await frame.evaluate(FIND_COVERED)]
    return covered


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("plan_trip", TRIP),
        *(
            ("plan_trip", {**TRIP, "when": {"type": "depart", "time": time}})
            for time in (TOMORROW, BEFORE_MIDNIGHT, ANOTHER_YEAR)
        ),
        ("get_departures", BOARD),
        *(
            ("get_departures", {"stop": BOARD["stop"], "at": time})
            for time in (TOMORROW, BEFORE_MIDNIGHT, ANOTHER_YEAR)
        ),
        ("planJourney", JOURNEY),
    ],
)
async def test_no_text_of_a_view_covers_another(draw, tool, arguments, language):
    async with draw(tool, arguments, context={"locale": language}) as shown:
        assert await list_covered(shown.frame, shown.page) == []


@pytest.mark.parametrize("locale", ["fi-FI", "sv-FI", "en-GB"])
@pytest.mark.parametrize("media", ["screen", "print"])
@pytest.mark.parametrize("time", [None, TOMORROW, BEFORE_MIDNIGHT, ANOTHER_YEAR])
async def test_no_text_of_the_page_covers_another(visit, media, locale, time):
    search = "?from=DEMO-HELSINKI:KAMPPI&to=60.2055,24.6559" + (f"&leave={time[:16]}" if time else "")
    async with visit(search, locale=locale) as visitor:
        await visitor.page.emulate_media(media=media)
        assert await list_covered(visitor.page, visitor.page) == []
