"""The map of a trip in a real browser: its lines, their colours, and how it moves."""

import pytest

from tests.views.questions import TRIP
from tests.views.test_in_browser import EN_DASH, ENGLISH

pytestmark = pytest.mark.asyncio(loop_scope="session")


COUNT_POINTS = "path => path.getAttribute('d').split('L').length"


async def test_a_trip_shows_its_ways_side_by_side_and_draws_the_chosen_one(draw):
    async with draw("plan_trip", TRIP) as shown:
        ways, drawn = shown.body["itineraries"], []
        times = await shown.frame.locator("[role=radio] b").all_inner_texts()
        for _ in ways:
            drawn.append(await shown.evaluate_all(".map path[data-stroke]", COUNT_POINTS))
            await shown.frame.press("[role=radio][aria-checked=true]", "ArrowRight")
        focused = await shown.frame.evaluate("document.activeElement.getAttribute('aria-checked')")

    lines = {each["fingerprint"]: each["legs"] for each in shown.answer["_meta"]["fingerpost/geometry"]["itineraries"]}
    ends = [(way["legs"][0]["departureTime"], way["legs"][-1]["arrivalTime"]) for way in ways]
    assert [each.split(EN_DASH) for each in times] == [[begin[11:16], end[11:16]] for begin, end in ends]
    assert drawn == [[leg["legGeometry"]["length"] for leg in lines[way["fingerprint"]]] for way in ways]
    assert focused == "true"


async def test_a_trip_without_lines_is_drawn_straight_and_reported(draw):
    """A host that is not known to show views got no geometry: from stop to stop, in words too."""

    def change(answer):
        del answer["_meta"]["fingerpost/geometry"]

    async with draw("plan_trip", TRIP, change=change, context=ENGLISH) as shown:
        points = await shown.evaluate_all(".map path[data-stroke]", COUNT_POINTS)
        text = await shown.text()
        await shown.press("refresh")
        [call] = await shown.hear("tools/call")

    assert points == [2] * len(shown.body["itineraries"][0]["legs"])
    assert "Lines are straight between stops." in text
    assert call["_meta"] == dict.fromkeys(("fingerpost/geometry", "fingerpost/lineColors", "fingerpost/basemap"), True)


# Where the first and the last stop of the map are.
STOPS = """const [first, last] = [0, -1].map((at) => [...document.querySelectorAll(".map circle")].at(at))
    .map((circle) => ["cx", "cy"].map((name) => Number(circle.getAttribute(name))));
    const apart = Math.hypot(first[0] - last[0], first[1] - last[1]);"""
APART = f"(least) => {{ {STOPS} return apart > least; }}"


MOVED = f"(x) => {{ {STOPS} return Math.abs(first[0] - x) > 1; }}"


async def look_at_map(shown):
    return await shown.frame.evaluate(f"() => {{ {STOPS} return {{ apart, first }}; }}")


async def test_a_map_is_moved_and_zoomed_by_pointer_wheel_keyboard_and_button(draw):
    """What lies under the pointer stays there while the wheel turns; 0 shows all again.

    A wheel that only passes by moves nothing.
    """
    async with draw("plan_trip", TRIP) as shown:
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


async def test_a_map_is_zoomed_by_two_fingers(draw):
    """They are moved to twice their distance: what lay between them stays there, twice as large; one drags it."""
    async with draw("plan_trip", TRIP) as shown:
        fit = await look_at_map(shown)
        box = await shown.frame.locator(".map").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        touch = await shown.page.context.new_cdp_session(shown.page)

        async def put(kind, *places):
            points = [{"x": left, "y": top, "id": number} for number, (left, top) in enumerate(places)]
            await touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        await put("touchStart", (x - 30, y))
        await put("touchStart", (x - 30, y), (x + 30, y))
        for apart in (40, 50, 60):
            await put("touchMove", (x - apart, y), (x + apart, y))
        # A browser tells of touches when it draws the next picture.
        await shown.frame.wait_for_function(APART, arg=1.95 * fit["apart"])
        pinched = await look_at_map(shown)
        await put("touchEnd")
        await put("touchStart", (x - 60, y))
        await put("touchMove", (x - 40, y + 10))
        await shown.frame.wait_for_function(MOVED, arg=pinched["first"][0])
        dragged = await look_at_map(shown)
        await put("touchEnd")
        await shown.page.mouse.move(x, y)
        left = await look_at_map(shown)

    middle = box["width"] / 2, box["height"] / 2
    assert pinched["apart"] == pytest.approx(2 * fit["apart"], rel=0.01)
    around = [place + 2 * (at - place) for at, place in zip(fit["first"], middle, strict=True)]
    assert pinched["first"] == pytest.approx(around, abs=1)
    assert dragged["first"] == pytest.approx([pinched["first"][0] + 20, pinched["first"][1] + 10], abs=0.5)
    assert (dragged["apart"], left) == (pytest.approx(pinched["apart"], rel=0.01), dragged)


async def test_lines_have_their_own_colours(draw):
    async with draw("plan_trip", {**TRIP, "destination": {"type": "label", "value": "Tapiola (M)"}}) as shown:
        badges = await shown.evaluate_all(
            ".line[data-mode=METRO]", "each => [getComputedStyle(each).backgroundColor, getComputedStyle(each).color]"
        )
        strokes = await shown.evaluate_all(
            ".map path[data-stroke]", "each => [each.dataset.stroke, getComputedStyle(each).stroke]"
        )
        edges = await shown.frame.locator(".map polyline").count()

    orange = "rgb(255, 99, 25)"
    assert badges
    assert {tuple(each) for each in badges} == {(orange, "rgb(0, 0, 0)")}
    assert [stroke for mode, stroke in strokes if mode == "METRO"] == [orange] * edges
    assert orange not in [stroke for mode, stroke in strokes if mode == "WALK"]
