"""The views in a real browser, in a host of the tests' own, over the real server and its demo networks."""

import pytest

from fingerpost.apps.demo_disruption import disrupt_demo
from tests.views.hosting import HOST, HOSTILE, VIEW, ask, connect, infect
from tests.views.questions import BOARD, FIGURES, QUESTIONS, TRIP

HIGHEST_PX = 500
EN_DASH = "\N{EN DASH}"
TARGET_PX = 44
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
            sizes = await shown.hear("ui/notifications/size-changed")
            requests = shown.requests

    assert len(observed) >= 2
    assert max(each["height"] for each in observed) <= HIGHEST_PX
    assert [each["small"] for each in observed if each["small"]] == []
    assert [each["tooWide"] for each in observed if each["tooWide"]] == []
    assert sizes[-1] == {"width": width, "height": observed[-1]["height"]}
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
    """Ninety seconds are fresh; at ninety-one the header says how old the answer is."""
    async with connect(application) as client:
        answer = await ask(client, "get_departures", BOARD)
        texts = {}
        for now in ("2026-03-10T08:01:30+02:00", "2026-03-10T08:01:31+02:00", "2026-03-10T08:05:00+02:00"):
            async with show(client, "board", answer, context={"locale": "en"}, now=now) as shown:
                texts[now[11:19]] = await shown.text()

    assert ["old" in texts[each] for each in texts] == [False, True, True]
    assert "5 minutes old" in texts["08:05:00"]


async def test_a_trip_shows_its_ways_side_by_side_and_draws_the_chosen_one(show, application):
    """Each way has its times; the drawing follows the choice, with a line a leg and the points that ``_meta`` has."""
    async with connect(application) as client:
        answer = await ask(client, "plan_trip", TRIP)
        ways = answer["structuredContent"]["itineraries"]
        lines = {each["fingerprint"]: each["legs"] for each in answer["_meta"]["fingerpost/geometry"]["itineraries"]}
        async with show(client, "trip", answer, arguments=TRIP) as shown:
            times = await shown.frame.locator("[role=radio] b").all_inner_texts()
            drawn = []
            for _ in ways:
                drawn.append(
                    await shown.frame.eval_on_selector_all(
                        ".map path[data-stroke]", "all => all.map(p => p.getAttribute('d').split('L').length)"
                    )
                )
                await shown.frame.press("[role=radio][aria-checked=true]", "ArrowRight")
            focused = await shown.frame.evaluate("document.activeElement.getAttribute('aria-checked')")

    ends = [(way["legs"][0]["departureTime"], way["legs"][-1]["arrivalTime"]) for way in ways]
    assert [each.split(EN_DASH) for each in times] == [[begin[11:16], end[11:16]] for begin, end in ends]
    assert drawn == [[leg["legGeometry"]["length"] for leg in lines[way["fingerprint"]]] for way in ways]
    assert focused == "true"


async def test_a_trip_without_lines_is_drawn_straight_and_says_so(show, application):
    """A host that is not known to show views got no geometry: from stop to stop, in words too."""
    async with connect(application) as client:
        answer = await ask(client, "plan_trip", TRIP)
        del answer["_meta"]["fingerpost/geometry"]
        async with show(client, "trip", answer, arguments=TRIP, context={"locale": "en"}) as shown:
            points = await shown.frame.eval_on_selector_all(
                ".map path[data-stroke]", "all => all.map(p => p.getAttribute('d').split('L').length)"
            )
            text = await shown.text()
            await shown.frame.click("[data-key=refresh]")
            await shown.frame.wait_for_selector("[data-key=refresh]:not([aria-disabled])")
            [call] = await shown.hear("tools/call")

    assert points == [2] * len(answer["structuredContent"]["itineraries"][0]["legs"])
    assert "Lines are straight between stops." in text
    assert call["_meta"] == dict.fromkeys(("fingerpost/geometry", "fingerpost/lineColors", "fingerpost/basemap"), True)


# Where the first and the last stop of the map are.
STOPS = """const [first, last] = [0, -1].map((at) => [...document.querySelectorAll(".map circle")].at(at))
    .map((circle) => ["cx", "cy"].map((name) => Number(circle.getAttribute(name))));
    const apart = Math.hypot(first[0] - last[0], first[1] - last[1]);"""
APART = f"(least) => {{ {STOPS} return apart > least; }}"


async def look_at_map(shown):
    """Return the pixels between the first and the last stop of the map, and where the first lies."""
    return await shown.frame.evaluate(f"() => {{ {STOPS} return {{ apart, first }}; }}")


async def test_a_map_is_moved_and_zoomed_by_pointer_wheel_keyboard_and_button(show, application):
    """What lies under the pointer stays there while the wheel turns; 0 shows all again.

    A wheel that only passes by moves nothing.
    """
    async with connect(application) as client:
        answer = await ask(client, "plan_trip", TRIP)
        async with show(client, "trip", answer, arguments=TRIP) as shown:
            frame, mouse, keyboard = shown.frame, shown.page.mouse, shown.page.keyboard
            fit = await look_at_map(shown)
            box = await frame.locator(".map").bounding_box()
            middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            await mouse.move(*middle)
            await mouse.wheel(0, -300)
            passed = await look_at_map(shown)
            await mouse.down()
            await mouse.move(middle[0] + 30, middle[1] - 20, steps=3)
            await mouse.up()
            dragged = await look_at_map(shown)
            first = await frame.locator(".map circle").first.bounding_box()
            under = first["x"] + first["width"] / 2, first["y"] + first["height"] / 2
            await mouse.move(*under)
            await mouse.wheel(0, -300)
            await frame.wait_for_function(APART, arg=fit["apart"] * 1.5)
            wheeled = await look_at_map(shown)
            await keyboard.press("0")
            reset = await look_at_map(shown)
            await keyboard.press("ArrowRight")
            right = await look_at_map(shown)
            await keyboard.press("0")
            await frame.click("[data-key=zoom-in]")
            zoomed = await look_at_map(shown)
            await shown.tell({"locale": "sv"})
            await frame.wait_for_selector("text=Senare")
            kept = await look_at_map(shown)
            await frame.click("[data-key=zoom-out]")
            back = await look_at_map(shown)

    assert passed == fit
    assert dragged["apart"] == pytest.approx(fit["apart"], abs=0.2)
    assert dragged["first"] == pytest.approx([fit["first"][0] + 30, fit["first"][1] - 20], abs=0.3)
    assert wheeled["apart"] == pytest.approx(2 * fit["apart"], rel=0.01)
    assert wheeled["first"] == pytest.approx(dragged["first"], abs=1)
    assert reset == fit
    assert right["first"][0] < fit["first"][0] - 50
    assert zoomed["apart"] == pytest.approx(1.6 * fit["apart"], rel=0.01)
    assert kept == zoomed
    assert back["apart"] == pytest.approx(fit["apart"], rel=0.01)


async def test_lines_have_their_own_colours(show, application):
    """The metro is orange with black on it, in the summary, the steps and the map; a walk has none."""
    async with connect(application) as client:
        answer = await ask(client, "plan_trip", {**TRIP, "destination": {"type": "label", "value": "Tapiola (M)"}})
        async with show(client, "trip", answer, arguments=TRIP) as shown:
            badges = await shown.frame.eval_on_selector_all(
                ".line[data-mode=METRO]",
                "all => all.map(each => [getComputedStyle(each).backgroundColor, getComputedStyle(each).color])",
            )
            strokes = await shown.frame.eval_on_selector_all(
                ".map path[data-stroke]", "all => all.map(each => [each.dataset.stroke, getComputedStyle(each).stroke])"
            )
            edges = await shown.frame.locator(".map polyline").count()

    orange = "rgb(255, 99, 25)"
    assert badges
    assert {tuple(each) for each in badges} == {(orange, "rgb(0, 0, 0)")}
    assert [stroke for mode, stroke in strokes if mode == "METRO"] == [orange] * edges
    assert orange not in [stroke for mode, stroke in strokes if mode == "WALK"]


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
        {"query_type": "verify_claim", "parameters": {"claim": "Apple's revenue in 2022 was 394.3 billion dollars"}},
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
