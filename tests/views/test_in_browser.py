"""The views in a real browser, in a host of the tests' own, over the real server and its demo networks."""

import pytest

from fingerpost.apps.demo_disruption import disrupt_demo
from tests.views.hosting import HOST, HOSTILE, VIEW, ask, connect, infect
from tests.views.questions import BOARD, FIGURES, QUESTIONS, TRIP

HIGHEST_PX = 500
TARGET_PX = 44
EN_DASH = "\N{EN DASH}"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def measure(shown):
    """Return the view's height and width, and what of it can be pressed but is smaller than a finger."""
    return await shown.frame.evaluate(
        """(least) => {
            const root = document.documentElement;
            const pressed = [...document.querySelectorAll("button, select, [role=slider]")];
            const boxes = pressed.map((each) => [each.textContent, each.getBoundingClientRect()]);
            const small = boxes.filter(([, box]) => box.width && (box.width < least || box.height < least));
            return {
                height: Math.ceil(document.querySelector("main").getBoundingClientRect().height),
                tooWide: root.scrollWidth > root.clientWidth,
                small: small.map(([text]) => text),
            };
        }""",
        TARGET_PX,
    )


@pytest.mark.parametrize("view", QUESTIONS)
@pytest.mark.parametrize("width", [360, 1280])
async def test_a_view_is_low_has_room_for_fingers_and_asks_for_nothing(show, application, view, width):
    """At most 500 px high, every target 44 px, nothing cut off at the side, and no request but for the page itself."""
    await disrupt_demo(application)
    tool, arguments = QUESTIONS[view]
    async with connect(application) as client:
        answer = await ask(client, tool, arguments)
        async with show(client, view, answer, arguments=arguments, width=width) as shown:
            observed = []
            for key in await shown.frame.eval_on_selector_all("[role=tab]", "all => all.map(each => each.dataset.key)"):
                await shown.frame.click(f"[data-key={key}]")
                observed.append(await measure(shown))
            height = observed[-1]["height"]
            await shown.hear_last("ui/notifications/size-changed", {"width": width, "height": height})
            requests = shown.requests

    assert len(observed) >= 2
    assert max(each["height"] for each in observed) <= HIGHEST_PX
    assert [each["small"] for each in observed if each["small"]] == []
    assert [each["tooWide"] for each in observed if each["tooWide"]] == []
    assert requests == [HOST, VIEW]


@pytest.mark.parametrize("view", QUESTIONS)
async def test_markup_from_feeds_and_filings_is_text(show, application, view):
    """A stop, an alert, a company that is called <img onerror> is shown so, letter by letter, in every tab."""
    await disrupt_demo(application)
    tool, arguments = QUESTIONS[view]
    async with connect(application) as client:
        answer = await ask(client, tool, arguments)
        answer["structuredContent"] = infect(answer["structuredContent"])
        async with show(client, view, answer, arguments=arguments) as shown:
            for key in await shown.frame.eval_on_selector_all("[role=tab]", "all => all.map(each => each.dataset.key)"):
                await shown.frame.click(f"[data-key={key}]")
                text = await shown.frame.text_content("main")
                assert HOSTILE in text
                assert await shown.frame.evaluate("document.querySelectorAll('main img, main script').length") == 0
            assert await shown.frame.evaluate("window.hit") is None


async def test_a_board_strikes_what_is_cancelled_and_says_what_is_late(show, application):
    """The simulator closes M1: its departures are struck through and red; a late one shows both of its times."""
    await disrupt_demo(application)
    async with connect(application) as client:
        answer = await ask(client, "get_departures", BOARD)
        rows = answer["structuredContent"]["departures"]
        async with show(client, "board", answer, arguments=BOARD) as shown:
            struck = await shown.frame.eval_on_selector_all(
                "tr[data-status=cancelled]",
                "rows => rows.map(row => [...row.querySelectorAll('s')].map(s => s.textContent))",
            )
            late = await shown.frame.inner_text("tr[data-status=delayed]")
            text = await shown.text()

    cancelled = [row for row in rows if row["status"] == "cancelled"]
    delayed = next(row for row in rows if row["status"] == "delayed")
    assert struck[0] == [cancelled[0]["scheduledTime"][11:16], cancelled[0]["destination"]]
    assert delayed["realtimeTime"][11:16] in late
    assert delayed["scheduledTime"][11:16] in late
    assert "Line M1 is closed" in text
    assert "Europe/Helsinki" in text


async def test_a_board_of_another_time_says_from_when_on_it_lists(show, application):
    """Tomorrow's board has tomorrow's day in its header and at each departure; the present board has neither."""
    tomorrow = {"stop": BOARD["stop"], "at": "2026-03-11T07:00:00+02:00"}
    texts = []
    async with connect(application) as client:
        for arguments in (BOARD, tomorrow):
            answer = await ask(client, "get_departures", arguments)
            async with show(client, "board", answer, context={"locale": "en"}) as shown:
                texts.append(await shown.text())

    assert ["from Wed" in text for text in texts] == [False, True]
    assert ["Wed" in text.partition("Destination")[2] for text in texts] == [False, True]


async def test_pages_of_a_board_show_every_departure_once(show, application):
    """What does not fit is on the next page, whose button is a finger wide."""
    async with connect(application) as client:
        answer = await ask(client, "get_departures", {**BOARD, "limit": 30})
        rows = answer["structuredContent"]["departures"]
        seen = []
        async with show(client, "board", answer, width=360) as shown:
            while True:
                seen += await shown.frame.eval_on_selector_all(
                    "tbody tr", "rows => rows.map(row => row.querySelector('strong').textContent)"
                )
                if await shown.frame.locator("[data-key=page-next][aria-disabled]").count():
                    break
                await shown.frame.click("[data-key=page-next]")

    assert len(rows) == 30
    assert seen == [row["scheduledTime"][11:16] for row in rows]


async def test_refresh_calls_the_tool_with_the_same_question_and_shows_what_is_new(show, application):
    """A cancellation that arrives is seen after the button, focus stays on it, and a screen reader is told."""
    async with connect(application) as client:
        answer = await ask(client, "get_departures", BOARD)
        async with show(client, "board", answer, arguments=BOARD) as shown:
            before = await shown.frame.locator("tr[data-status=cancelled]").count()
            await disrupt_demo(application)
            await shown.frame.focus("[data-key=refresh]")
            await shown.page.keyboard.press("Enter")
            await shown.frame.wait_for_selector("tr[data-status=cancelled]")
            calls = await shown.hear("tools/call")
            focused = await shown.frame.evaluate("document.activeElement.dataset.key")
            told = await shown.frame.text_content("[role=status]")

    assert before == 0
    assert [(call["name"], call["arguments"]) for call in calls] == [("get_departures", BOARD)]
    assert (focused, told) == ("refresh", "Päivitetty.")


async def test_a_refresh_that_fails_keeps_the_answer_and_says_so(show, application):
    """What was known stays, marked with its time; the reason is the tool's own sentence."""
    async with connect(application) as client:
        answer = await ask(client, "get_departures", BOARD)
        bad = {"stop": {"type": "label", "value": "Nowhere at all"}}
        async with show(client, "board", answer, arguments=bad, context={"locale": "en"}) as shown:
            await shown.frame.click("[data-key=refresh]")
            await shown.frame.wait_for_selector(".banner.danger")
            text = await shown.text()

    assert "Could not be refreshed" in text
    assert "What is shown is as of 08:00" in text
    assert answer["structuredContent"]["departures"][0]["destination"] in text


async def test_an_answer_that_has_grown_old_says_so(show, application):
    """Ninety seconds are fresh; after that the header gives the age, in the largest unit that fits."""
    async with connect(application) as client:
        answer = await ask(client, "get_departures", BOARD)
        texts = {}
        for now in (
            "2026-03-10T08:01:30+02:00",
            "2026-03-10T08:01:31+02:00",
            "2026-03-10T08:05:00+02:00",
            "2026-03-12T09:00:00+02:00",
        ):
            async with show(client, "board", answer, context={"locale": "en"}, now=now) as shown:
                texts[now[11:19]] = await shown.text()

    assert ["old" in texts[each] for each in texts] == [False, True, True, True]
    assert "5 minutes old" in texts["08:05:00"]
    assert "2 days old" in texts["09:00:00"]


@pytest.mark.parametrize("width", [360, 700])
async def test_a_platform_stands_at_its_departure(show, application, width):
    """On a phone as on a desk; a departure without one is shown without."""
    async with connect(application) as client:
        answer = await ask(client, "get_departures", BOARD)
        answer["structuredContent"]["departures"][0]["platform"] = "17b"
        async with show(client, "board", answer, arguments=BOARD, width=width) as shown:
            rows = await shown.frame.locator("tbody tr").all_inner_texts()

    assert ["17b" in row for row in rows] == [True] + [False] * (len(rows) - 1)


async def test_earlier_asks_for_a_trip_before_all_that_are_shown(show, application):
    """The same ends, to arrive a minute before the first way that is shown does."""
    question = {**TRIP, "when": {"type": "depart", "time": "2026-03-10T12:00:00+02:00"}}
    async with connect(application) as client:
        answer = await ask(client, "plan_trip", question)
        async with show(client, "trip", answer, arguments=question) as shown:
            before = await shown.frame.locator("[role=radio] b").all_inner_texts()
            await shown.frame.click("[data-key=earlier]")
            await shown.frame.wait_for_selector("[data-key=earlier]:not([aria-disabled])")
            after = await shown.frame.locator("[role=radio] b").all_inner_texts()
            [call] = await shown.hear("tools/call")

    ends = [each.split(EN_DASH)[1] for each in before]
    assert call["arguments"]["origin"] == TRIP["origin"]
    assert call["arguments"]["when"]["type"] == "arrive"
    assert max(each.split(EN_DASH)[1] for each in after) < min(ends)


async def test_later_asks_for_a_trip_after_all_that_are_shown(show, application):
    """The same ends, to leave a minute after the last way that is shown; the answer takes the place of the old."""
    async with connect(application) as client:
        answer = await ask(client, "plan_trip", TRIP)
        async with show(client, "trip", answer, arguments=TRIP) as shown:
            before = await shown.frame.locator("[role=radio] b").all_inner_texts()
            await shown.frame.click("[data-key=later]")
            await shown.frame.wait_for_selector("[data-key=later]:not([aria-disabled])")
            after = await shown.frame.locator("[role=radio] b").all_inner_texts()
            [call] = await shown.hear("tools/call")

    assert call["arguments"]["origin"] == TRIP["origin"]
    assert call["arguments"]["when"]["type"] == "depart"
    assert min(after) > max(before)


async def test_each_point_of_the_line_names_its_filing(show, application):
    """Arrow keys go from year to year; the chosen one shows value and accession number, and opens by the host."""
    async with connect(application) as client:
        answer = await ask(client, "sec_financial_data", FIGURES)
        rows = answer["structuredContent"]["results"]
        async with show(client, "figures", answer, arguments=FIGURES, context={"locale": "en"}) as shown:
            told = []
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
    "question",
    [
        {"query_type": "companies", "parameters": {}},
        {"query_type": "financial_facts", "parameters": {"ticker": "AAPL", "metrics": ["Revenue"], "period": "2022"}},
        {
            "query_type": "compare",
            "parameters": {"tickers": ["AAPL", "MSFT"], "metrics": ["Revenue"], "period": "2022"},
        },
        {
            "query_type": "verify_claim",
            "parameters": {"ticker": "AAPL", "metric": "Revenue", "period": "2022", "relation": "is_record"},
        },
        {"query_type": "metrics", "parameters": {"ticker": "AAPL"}},
    ],
    ids=lambda question: question["query_type"],
)
async def test_every_kind_of_figures_has_its_rows_in_a_table(show, application, question):
    """All rows, over as many pages as they need."""
    async with connect(application) as client:
        answer = await ask(client, "sec_financial_data", question)
        rows = answer["structuredContent"]["results"]
        async with show(client, "figures", answer, arguments=question) as shown:
            await shown.frame.click("[data-key=tab-table]")
            count = await shown.frame.locator("tbody tr").count()
            while await shown.frame.locator("[data-key=page-next]:not([aria-disabled])").count():
                await shown.frame.click("[data-key=page-next]")
                count += await shown.frame.locator("tbody tr").count()

    assert count == len(rows) > 0


async def test_a_failure_shows_its_sentence_and_what_to_do(show, application):
    """The contract's message and hint, as an alert; there is nothing else to show."""
    async with connect(application) as client:
        answer = await ask(client, "plan_trip", {**TRIP, "origin": {"type": "label", "value": "kamp"}})
        async with show(client, "trip", answer, context={"locale": "en"}) as shown:
            text = await shown.frame.inner_text("[role=alert]")

    assert text == answer["structuredContent"]["error"]["message"]


async def test_the_language_is_the_hosts_and_the_theme_follows_it(show, application):
    """Swedish of Finland is Swedish; German has no strings, so the answer's own language holds; dark is dark."""
    async with connect(application) as client:
        answer = await ask(client, "get_departures", BOARD)
        background = "getComputedStyle(document.body).backgroundColor"
        async with show(client, "board", answer, context={"locale": "sv-FI", "theme": "dark"}) as shown:
            swedish = await shown.text()
            dark = await shown.frame.evaluate(background)
            await shown.tell({"locale": "de-DE", "theme": "light"})
            await shown.frame.wait_for_selector("text=Lähdöt")
            light = await shown.frame.evaluate(background)
            language = await shown.frame.evaluate("document.documentElement.lang")

    assert "Avgångar" in swedish
    assert (dark, light) == ("rgb(22, 25, 29)", "rgb(255, 255, 255)")
    assert language == answer["structuredContent"]["meta"]["language"] == "fi"


async def test_a_host_that_calls_no_tools_and_opens_no_links_has_no_such_buttons(show, application):
    """No button does nothing; the filing's address is there as text."""
    async with connect(application) as client:
        answer = await ask(client, "sec_financial_data", FIGURES)
        async with show(client, "figures", answer, capabilities={}) as shown:
            buttons = await shown.frame.eval_on_selector_all("button", "all => all.map(each => each.dataset.key)")
            text = await shown.text()

    assert [key for key in buttons if not key.startswith("tab-")] == []
    assert answer["structuredContent"]["results"][-1]["filing_url"] in text


@pytest.mark.parametrize("view", QUESTIONS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_fault(show, application, view, scheme):
    """Every rule of axe, of any level, in every tab, in both themes."""
    engine = pytest.importorskip("axe_playwright_python.base", reason="no axe here: make test-web installs it")
    await disrupt_demo(application)
    tool, arguments = QUESTIONS[view]
    faults = []
    async with connect(application) as client:
        answer = await ask(client, tool, arguments)
        async with show(client, view, answer, arguments=arguments, scheme=scheme, width=360) as shown:
            await shown.frame.evaluate(engine.AXE_SCRIPT)
            for key in await shown.frame.eval_on_selector_all("[role=tab]", "all => all.map(each => each.dataset.key)"):
                await shown.frame.click(f"[data-key={key}]")
                found = await shown.frame.evaluate("axe.run(document)")
                faults += [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]]
                assert len(found["passes"]) > 10

    assert faults == []
