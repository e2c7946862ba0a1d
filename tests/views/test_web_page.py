"""The web page in a real browser: queries by typing and clicking, and the actions on an answer."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from fingerpost.apps.cli.server_commands import publish_disruption
from fingerpost.apps.error_boundary import answer
from fingerpost.apps.mcp.listener import Address

pytestmark = pytest.mark.asyncio(loop_scope="session")

EN_DASH = "\N{EN DASH}"
FROM, TO = "60.1699,24.9384", "60.2055,24.6559"
# The contract's own example.
CONTRACT = {
    "origin": {"type": "coords", "value": {"lat": 60.1699, "lon": 24.9384}},
    "destination": {"type": "coords", "value": {"lat": 60.2055, "lon": 24.6559}},
    "limit": 3,
}
TRIP = f"?from={FROM}&to={TO}"
BOARD = "?stop=DEMO-HELSINKI:KAMPPI"


async def ask(application, tool, arguments, user="local"):
    return (await answer(application.tools, tool, arguments, user=user)).body


def times_of(body):
    legs = [each["legs"] for each in body["itineraries"]]
    return [EN_DASH.join((each[0]["departureTime"][11:16], each[-1]["arrivalTime"][11:16])) for each in legs]


def question_of(page):
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}


async def test_the_contracts_trip_is_planned_by_typing(application, visit):
    async with visit() as visitor:
        await visitor.enter_ends(FROM, TO)
        await visitor.page.wait_for_selector("[role=radio]")
        times = await visitor.times()
        drawn = await visitor.page.locator(".map path[data-stroke]").count()
        asked = question_of(visitor.page)
    expected = await ask(application, "plan_trip", CONTRACT)

    assert times == times_of(expected)
    assert drawn == len(expected["itineraries"][0]["legs"])
    assert asked == {"from": FROM, "to": TO}


async def test_a_trip_is_planned_by_clicking(application, visit):
    async with visit() as visitor:
        await visitor.pick_place("from", "kamp", "Kamppi")
        await visitor.pick_place("to", "espo", "Espoo")
        await visitor.search()
        times = await visitor.times()
        [arguments] = visitor.arguments_of("plan_trip")
        title = await visitor.page.title()

    assert arguments["origin"] == {"type": "label", "value": "DEMO-HELSINKI:KAMPPI"}
    assert arguments["destination"] == {"type": "label", "value": "DEMO-HELSINKI:ESPOO"}
    assert times == times_of(await ask(application, "plan_trip", arguments))
    assert title.startswith("Kamppi to Espoo")


async def test_a_suggestion_is_accepted_with_the_keyboard(visit):
    async with visit() as visitor:
        page = visitor.page
        await page.fill("#from", "kamp")
        await page.wait_for_selector("#from-options [role=option]")
        await page.press("#from", "ArrowDown")
        active = await page.get_attribute("#from", "aria-activedescendant")
        told = await page.inner_text(f"#{active} span >> nth=0")
        await page.press("#from", "Enter")
        chosen = await page.input_value("#from")
        await page.fill("#to", "kamp")
        await page.wait_for_selector("#to-options [role=option]")
        await page.press("#to", "Escape")
        left = await page.input_value("#to")
        lists = await page.locator("[role=listbox]:visible").count()

    assert (told, chosen, left, lists) == ("Kamppi", "Kamppi", "kamp", 0)


async def test_an_ambiguous_place_is_elicited_before_the_trip_is_planned(visit):
    async with visit() as visitor:
        page = visitor.page
        await visitor.enter_ends("kamp", TO)
        await page.wait_for_selector(".candidates button")
        names = await page.locator(".candidates button").all_inner_texts()
        planned = visitor.arguments_of("plan_trip")
        await page.click(".candidates button >> nth=1")
        await page.wait_for_selector("[role=radio]")
        [arguments] = visitor.arguments_of("plan_trip")

    assert planned == []
    assert [name.startswith("Kamppi") for name in names][:2] == [True, True]
    assert arguments["origin"]["value"] == "DEMO-HELSINKI:KAMPPI-M-BUS"


async def test_an_unknown_place_is_reported_in_a_sentence(visit):
    async with visit() as visitor:
        await visitor.enter_ends("Nowhere at all", TO)
        text = await visitor.page.inner_text(".view [role=alert]")
        view = await visitor.page.inner_text(".view:visible")

    assert "Nowhere at all" in text
    assert "findAddressOrStop" not in view


async def test_a_cancellation_arrives_on_the_board_by_itself(application, visit):
    async with visit(None) as visitor:
        page = visitor.page
        await page.clock.install(time="2026-03-10T08:00:00+02:00")
        await page.clock.pause_at("2026-03-10T08:00:05+02:00")
        await visitor.open(BOARD)
        before = await page.locator("tr[data-status=cancelled]").count()
        await publish_disruption(application)
        await page.clock.fast_forward(29_000)
        asked_at_29_s = len(visitor.arguments_of("get_departures"))
        await page.fill("#stop", "Rau")
        await page.clock.fast_forward(1_500)
        await page.wait_for_selector("tr[data-status=cancelled] s")
        typed = await page.input_value("#stop")
        text = await page.inner_text(".view:visible")

    assert (before, asked_at_29_s) == (0, 1)
    assert typed == "Rau"
    assert "Line M1 is closed" in text
    assert "Cancelled" in text


@pytest.mark.parametrize(("width", "locale"), [(360, "sv-FI"), (960, "sv-FI")])
async def test_the_purpose_of_a_field_is_readable(visit, width, locale):
    """Swedish has the longest words, and 960 pixels the narrowest fields."""
    async with visit(width=width, locale=locale) as visitor:
        cut = await visitor.page.eval_on_selector_all(
            "[role=combobox]:not([hidden])",
            """all => all.filter(each => each.offsetParent).map(each => {
                each.value = each.placeholder;
                return [each.value, each.scrollWidth > each.clientWidth];
            })""",
        )

    assert cut == [["Hållplats eller adress", False]] * 2


async def test_a_cancellation_changes_the_trip_when_it_is_refreshed(application, visit):
    async with visit("?from=DEMO-HELSINKI:KAMPPI&to=DEMO-HELSINKI:TAPIOLA") as visitor:
        before = await visitor.page.inner_text(".choices")
        await publish_disruption(application)
        await visitor.page.click("[data-key=refresh]")
        await visitor.page.wait_for_selector("[data-key=refresh]:not([aria-disabled]) >> visible=true")
        await visitor.page.wait_for_selector(".view .state :text-matches('live', 'i')")
        after = await visitor.page.inner_text(".choices")

    assert "Instead of a disrupted trip" not in before
    assert "Instead of a disrupted trip" in after


async def test_a_link_repeats_the_query(application, visit):
    link = "?from=DEMO-HELSINKI:KAMPPI&to=DEMO-HELSINKI:ESPOO&arrive=2026-03-10T12:00&step_free=1"
    async with visit(link) as visitor:
        page = visitor.page
        [arguments] = visitor.arguments_of("plan_trip")
        form = [await page.input_value(f"#{each}") for each in ("from", "to", "when")]
        time = await page.input_value("[type=datetime-local]")
        is_step_free = await page.is_checked("#step-free")

    assert arguments["when"] == {"type": "arrive", "time": "2026-03-10T12:00"}
    assert arguments["constraints"]["accessibility"] == {"stepFree": True}
    assert form == ["Kamppi", "Espoo", "arrive"]
    assert (time, is_step_free) == ("2026-03-10T12:00", True)


async def test_later_is_in_the_address_and_back_leads_to_the_question_before(visit):
    async with visit() as visitor:
        page = visitor.page
        await visitor.type_ends(FROM, TO)
        await visitor.search()
        first = await visitor.times()
        await page.click("[data-key=later]")
        await page.wait_for_url("**leave=**")
        await page.wait_for_selector("[data-key=later]:not([aria-disabled]) >> visible=true")
        asked = question_of(page)
        later = await visitor.times()
        await page.go_back()
        await page.wait_for_selector(".intro li")

    latest = max(each.split(EN_DASH)[0] for each in first)
    assert asked["leave"][11:] > latest
    assert min(later) > latest


async def test_a_time_is_read_in_the_networks_zone(visit):
    """A visitor in New York who writes 09:00 means nine o'clock in Helsinki."""
    async with visit(timezone_id="America/New_York") as visitor:
        page = visitor.page
        await visitor.type_ends(FROM, TO)
        await page.select_option("#when", "leave")
        await page.fill("[type=datetime-local]", "2026-03-10T09:00")
        await visitor.search()
        times = await visitor.times()
        asked = question_of(page)

    assert min(times)[:5] >= "09:00"
    assert asked["leave"] == "2026-03-10T09:00"


async def test_a_place_is_saved_used_and_deleted(application, visit):
    async with visit() as visitor:
        page = visitor.page
        await visitor.pick_place("from", "kamp", "Kamppi")
        await page.click("[aria-label='Save From']")
        await page.fill("#save-as", "work")
        await page.press("#save-as", "Enter")
        await page.wait_for_selector(".saved li")
        kept = await ask(application, "get_user_variables", {})
        await page.fill("#from", "wor")
        await page.click("#from-options [role=option]")
        await visitor.type_place("to", TO)
        await visitor.search()
        [arguments] = visitor.arguments_of("plan_trip")
        await page.click("[aria-label='Delete work']")
        await page.wait_for_selector(".saved li", state="detached")
        left = await ask(application, "get_user_variables", {})

    [variable] = kept["variables"]
    assert (variable["key"], variable["type"]) == ("work", "location")
    assert variable["value"]["stopId"] == "DEMO-HELSINKI:KAMPPI"
    assert arguments["origin"] == {"type": "label", "value": "work"}
    assert left["variables"] == []


async def test_an_unknown_place_is_not_saved(visit):
    async with visit() as visitor:
        await visitor.type_place("from", "somewhere")
        await visitor.page.click("[aria-label='Save From']")
        told = await visitor.page.text_content("[role=status]")

    assert told.startswith("Choose a suggestion first")
    assert visitor.arguments_of("save_user_variable") == []


async def test_a_publicly_reachable_server_saves_no_places(visit):
    """Nobody says who calls (rule A12), so that there is no button that would."""
    async with visit(address=Address("192.0.2.7", 0)) as visitor:
        buttons = await visitor.page.locator(".keep:visible").count()

    assert buttons == 0


def read_event(text):
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    lines = text.replace("\r\n ", "").split("\r\n")
    unescape = {"\\n": "\n", "\\,": ",", "\\;": ";", "\\\\": "\\"}
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name: re.sub(r"\\[n,;\\]", lambda found: unescape[found[0]], value) for name, _, value in pairs}


async def test_a_trip_goes_into_a_calendar(application, visit, tmp_path):
    async with visit("?from=DEMO-HELSINKI:KAMPPI&to=DEMO-HELSINKI:ESPOO") as visitor:
        async with visitor.page.expect_download() as waiting:
            await visitor.page.click("[data-key=calendar]")
        download = await waiting.value
        await download.save_as(tmp_path / "trip.ics")
        event = read_event((tmp_path / "trip.ics").read_bytes().decode())
        [arguments] = visitor.arguments_of("plan_trip")
        link = visitor.page.url
    legs = (await ask(application, "plan_trip", arguments))["itineraries"][0]["legs"]

    def in_utc(instant):
        hour = int(instant[11:13]) - 2
        return f"20260310T{hour:02}{instant[14:16]}{instant[17:19]}Z"

    assert download.suggested_filename == "trip.ics"
    assert (event["DTSTART"], event["DTEND"]) == (in_utc(legs[0]["departureTime"]), in_utc(legs[-1]["arrivalTime"]))
    assert event["SUMMARY"] == "Kamppi to Espoo"
    steps = event["DESCRIPTION"].split("\n")
    assert len(steps) == len(legs) + 2
    assert steps[0].startswith(f"{legs[0]['departureTime'][11:16]} {legs[0]['from']['name']}: ")
    assert steps[-1] == link


async def test_a_printed_trip_is_the_trip(visit):
    async with visit(TRIP) as visitor:
        await visitor.page.emulate_media(media="print")
        shown = {
            each: await visitor.page.locator(each).locator("visible=true").count()
            for each in (".ask", ".actions", "[data-key=refresh]", ".steps", ".map", "[role=radio]")
        }

    assert shown == {
        ".ask": 0, ".actions": 0, "[data-key=refresh]": 0, ".steps": 1, ".map": 1, "[role=radio]": 1,
    }  # fmt: skip


async def test_a_lost_server_is_reported(application, visit):
    async with visit(tolerated="503") as visitor:
        await visitor.page.route("**/mcp", lambda route: route.fulfill(status=503, body=""))
        await visitor.enter_ends(FROM, TO)
        text = await visitor.page.inner_text(".told [role=alert]")

    assert text.startswith("No answer: ")
