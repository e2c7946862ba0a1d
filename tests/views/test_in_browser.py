"""The views in a real browser, in a test host, with the real server and its demo networks."""

import pytest

from fingerpost.apps.cli.server_commands import publish_disruption
from tests.views.hosting import HOST, HOSTILE, VIEW, infect
from tests.views.questions import BOARD, FIGURES, QUESTIONS, TRIP

HIGHEST_PX = 500
TARGET_PX = 44
EN_DASH = "\N{EN DASH}"
ENGLISH = {"locale": "en"}
pytestmark = pytest.mark.asyncio(loop_scope="session")

# The view's height, whether it is cut off at the side, and what can be pressed but is smaller than a finger.
MEASURE = """(least) => {
    const root = document.documentElement;
    const pressed = [...document.querySelectorAll("button, select, [role=slider]")];
    const boxes = pressed.map((each) => [each.textContent, each.getBoundingClientRect()]);
    const small = boxes.filter(([, box]) => box.width && (box.width < least || box.height < least));
    return {
        height: Math.ceil(document.querySelector("main").getBoundingClientRect().height),
        tooWide: root.scrollWidth > root.clientWidth,
        small: small.map(([text]) => text),
    };
}"""


@pytest.mark.parametrize("tool", QUESTIONS)
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
async def test_a_view_is_low_has_large_targets_and_requests_nothing(draw, application, tool, width, scheme):
    engine = pytest.importorskip("axe_playwright_python.base", reason="no axe here: make test-web installs it")
    await publish_disruption(application)
    async with draw(tool, QUESTIONS[tool], width=width, scheme=scheme) as shown:
        measured, faults = [], []
        await shown.frame.evaluate(engine.AXE_SCRIPT)
        async for _ in shown.tabs():
            measured.append(await shown.frame.evaluate(MEASURE, TARGET_PX))
            found = await shown.frame.evaluate("axe.run(document)")
            faults += [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]]
            assert len(found["passes"]) > 10
        size = {"width": width, "height": measured[-1]["height"]}
        await shown.hear_last("ui/notifications/size-changed", size)

    assert max(each["height"] for each in measured) <= HIGHEST_PX
    assert [each for each in measured if each["small"] or each["tooWide"]] == []
    assert shown.requests == [HOST, VIEW]
    assert faults == []


@pytest.mark.parametrize("tool", QUESTIONS)
async def test_markup_from_feeds_and_filings_is_text(draw, application, tool):
    def change(answer):
        answer["structuredContent"] = infect(answer["structuredContent"])

    await publish_disruption(application)
    async with draw(tool, QUESTIONS[tool], change=change) as shown:
        async for _ in shown.tabs():
            assert HOSTILE in await shown.frame.text_content("main")
            assert await shown.frame.evaluate("document.querySelectorAll('main img, main script').length") == 0
        assert await shown.frame.evaluate("window.hit") is None


async def test_a_board_strikes_cancelled_rows_and_marks_late_ones(draw, application):
    await publish_disruption(application)
    async with draw("get_departures", BOARD) as shown:
        struck = await shown.evaluate_all(
            "tr[data-status=cancelled]", "row => [...row.querySelectorAll('s')].map(s => s.textContent)"
        )
        late = await shown.frame.inner_text("tr[data-status=delayed]")
        text = await shown.text()

    cancelled, delayed = (
        next(row for row in shown.body["departures"] if row["status"] == status) for status in ("cancelled", "delayed")
    )
    assert struck[0] == [cancelled["scheduledTime"][11:16], cancelled["destination"]]
    assert delayed["realtimeTime"][11:16] in late
    assert delayed["scheduledTime"][11:16] in late
    minutes = int(delayed["realtimeTime"][14:16]) - int(delayed["scheduledTime"][14:16])
    assert f"\t{minutes % 60} min" in late
    assert "Line M1 is closed" in text
    assert "Europe/Helsinki" in text


async def test_a_board_of_another_time_states_its_start(draw):
    texts = []
    for arguments in (BOARD, {"stop": BOARD["stop"], "at": "2026-03-11T07:00:00+02:00"}):
        async with draw("get_departures", arguments, context=ENGLISH) as shown:
            texts.append(await shown.text())

    assert ["from Wed" in text for text in texts] == [False, True]
    assert ["Wed" in text.partition("Destination")[2] for text in texts] == [False, True]


async def test_pages_of_a_board_show_every_departure_once(draw):
    seen = []
    async with draw("get_departures", {**BOARD, "limit": 30}, width=360) as shown:
        while True:
            seen += await shown.evaluate_all("tbody tr", "row => row.querySelector('strong').textContent")
            if await shown.frame.locator("[data-key=page-next][aria-disabled]").count():
                break
            await shown.frame.click("[data-key=page-next]")

    assert len(seen) == 30
    assert seen == [row["scheduledTime"][11:16] for row in shown.body["departures"]]


async def test_refresh_repeats_the_query_and_shows_the_new_answer(draw, application):
    async with draw("get_departures", BOARD) as shown:
        before = await shown.frame.locator("tr[data-status=cancelled]").count()
        await publish_disruption(application)
        await shown.frame.focus("[data-key=refresh]")
        await shown.page.keyboard.press("Enter")
        await shown.frame.wait_for_selector("tr[data-status=cancelled]")
        calls = await shown.hear("tools/call")
        focused = await shown.frame.evaluate("document.activeElement.dataset.key")
        told = await shown.frame.text_content("[role=status]")

    assert before == 0
    assert [(call["name"], call["arguments"]) for call in calls] == [("get_departures", BOARD)]
    assert (focused, told) == ("refresh", "Päivitetty.")


async def test_a_failed_refresh_preserves_the_answer_and_is_reported(draw):
    unknown = {"stop": {"type": "label", "value": "Nowhere at all"}}
    async with draw("get_departures", BOARD, repeats=unknown, context=ENGLISH) as shown:
        await shown.frame.click("[data-key=refresh]")
        await shown.frame.wait_for_selector(".banner.danger")
        text = await shown.text()

    assert "Could not refresh" in text
    assert "Showing data as of 08:00" in text
    assert shown.body["departures"][0]["destination"] in text


@pytest.mark.parametrize(
    ("now", "age"),
    [
        ("2026-03-10T08:01:30+02:00", None),
        ("2026-03-10T08:01:31+02:00", "old"),
        ("2026-03-10T08:05:00+02:00", "5 minutes old"),
        ("2026-03-12T09:00:00+02:00", "2 days old"),
    ],
)
async def test_an_old_answer_is_labelled(draw, now, age):
    """Ninety seconds are fresh; after that the header gives the age, in the largest unit that fits."""
    async with draw("get_departures", BOARD, context=ENGLISH, now=now) as shown:
        text = await shown.text()

    assert ("old" in text, age is None or age in text) == (age is not None, True)


@pytest.mark.parametrize("width", [360, 700])
async def test_a_platform_is_shown_at_its_departure(draw, width):
    def change(answer):
        answer["structuredContent"]["departures"][0]["platform"] = "17b"

    async with draw("get_departures", BOARD, change=change, width=width) as shown:
        rows = await shown.frame.locator("tbody tr").all_inner_texts()

    assert ["17b" in row for row in rows] == [True] + [False] * (len(rows) - 1)


@pytest.mark.parametrize(("key", "kind"), [("earlier", "arrive"), ("later", "depart")])
async def test_earlier_and_later_request_trips_beyond_all_that_are_shown(draw, key, kind):
    question = {**TRIP, "when": {"type": "depart", "time": "2026-03-10T12:00:00+02:00"}}
    async with draw("plan_trip", question) as shown:
        before = await shown.frame.locator("[role=radio] b").all_inner_texts()
        await shown.press(key)
        after = await shown.frame.locator("[role=radio] b").all_inner_texts()
        [call] = await shown.hear("tools/call")

    assert (call["arguments"]["origin"], call["arguments"]["when"]["type"]) == (TRIP["origin"], kind)
    side = ["later", "earlier"].index(key)
    old, new = ([each.split(EN_DASH)[side] for each in times] for times in (before, after))
    assert min(new) > max(old) if key == "later" else max(new) < min(old)


async def test_every_point_of_the_line_names_its_filing(draw):
    async with draw("sec_financial_data", FIGURES, context=ENGLISH) as shown:
        rows, told = shown.body["results"], []
        await shown.frame.press("[role=slider]", "Home")
        for _ in rows:
            told.append(await shown.frame.get_attribute("[role=slider]", "aria-valuetext"))
            await shown.frame.press("[role=slider]", "ArrowRight")
        await shown.frame.click(".chosen-figure button")
        await shown.hear_last("ui/open-link", {"url": rows[-1]["filing_url"]})
        opened = await shown.hear("ui/open-link")
        circles = await shown.frame.locator(".chart circle").count()

    assert told == [
        f"FY {row['fiscal_year']}: {row['value']:,} USD; "
        f"{row['filing_type']}, filed {row['filing_date']}, {row['accession_number']}"
        for row in rows
    ]
    assert circles == len(rows) > 3
    assert opened == [{"url": rows[-1]["filing_url"]}]


@pytest.mark.parametrize(
    ("query_type", "parameters"),
    [
        ("company_info", {}),
        ("financial_facts", {"ticker": "AAPL", "metrics": ["Revenue"], "period": "2022"}),
        ("compare", {"tickers": ["AAPL", "MSFT"], "metrics": ["Revenue"], "period": "2022"}),
        ("verify_claim", {"ticker": "AAPL", "metric": "Revenue", "period": "2022", "relation": "is_record"}),
        ("metrics", {"ticker": "AAPL"}),
    ],
)
async def test_every_kind_of_figures_has_its_rows_in_a_table(draw, query_type, parameters):
    async with draw("sec_financial_data", {"query_type": query_type, "parameters": parameters}) as shown:
        await shown.frame.click("[data-key=tab-table]")
        count = await shown.frame.locator("tbody tr").count()
        while await shown.frame.locator("[data-key=page-next]:not([aria-disabled])").count():
            await shown.frame.click("[data-key=page-next]")
            count += await shown.frame.locator("tbody tr").count()

    assert count == len(shown.body["results"]) > 0


async def test_a_failure_shows_its_sentence_and_its_remedy(draw):
    async with draw("plan_trip", {**TRIP, "origin": {"type": "label", "value": "kamp"}}, context=ENGLISH) as shown:
        text = await shown.frame.inner_text("[role=alert]")

    assert text == f"{shown.body['error']['message']}."


async def test_the_language_is_the_hosts_and_the_theme_follows_it(draw):
    """Swedish of Finland is Swedish; German has no strings, so the answer's own language holds; dark is dark."""
    background = "getComputedStyle(document.body).backgroundColor"
    async with draw("get_departures", BOARD, context={"locale": "sv-FI", "theme": "dark"}) as shown:
        swedish = await shown.text()
        dark = await shown.frame.evaluate(background)
        await shown.tell({"locale": "de-DE", "theme": "light"})
        await shown.frame.wait_for_selector("text=Lähdöt")
        light = await shown.frame.evaluate(background)
        language = await shown.frame.evaluate("document.documentElement.lang")

    assert "Avgångar" in swedish
    assert (dark, light) == ("rgb(22, 25, 29)", "rgb(255, 255, 255)")
    assert language == shown.body["meta"]["language"] == "fi"


async def test_a_host_that_calls_no_tools_and_opens_no_links_has_no_such_buttons(draw):
    async with draw("sec_financial_data", FIGURES, capabilities={}) as shown:
        buttons = await shown.evaluate_all("button", "button => button.dataset.key")
        text = await shown.text()

    assert [key for key in buttons if not key.startswith("tab-")] == []
    assert shown.body["results"][-1]["filing_url"] in text
