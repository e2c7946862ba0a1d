"""Water and streets behind the lines of a trip, in a real browser."""

import json

import pytest

from fingerpost.apps.views.page import VIEW_BY_TOOL, read_page
from tests.views.lakeside import QUESTION, add_lakeside

pytestmark = pytest.mark.asyncio(loop_scope="session")

MAX_BYTES = 300_000


@pytest.fixture
def lakeside(home, tmp_path, invoke):
    return add_lakeside(tmp_path, invoke)


async def test_water_and_streets_are_drawn_under_the_trip_and_move_with_it(draw, lakeside):
    boxes = []
    async with draw("plan_trip", QUESTION, application=lakeside) as shown:
        for _ in range(2):
            kinds = await shown.evaluate_all(
                ".map .ground path", "each => [each.dataset.kind, getComputedStyle(each).fill]"
            )
            boxes.append(
                [
                    await shown.frame.locator(f".map {each}").first.bounding_box()
                    for each in ("[data-kind=minor-road]", "path[data-stroke]")
                ]
            )
            await shown.frame.click("[data-key=zoom-in]")
        order = await shown.evaluate_all(".map > *", "each => each.tagName")

    assert [kind for kind, _ in kinds] == ["water", "minor-road"]
    assert kinds[0][1] != "none"
    assert kinds[1][1] == "none"
    assert order[0] == "g"
    for street, line in boxes:
        assert street["y"] + street["height"] / 2 == pytest.approx(line["y"] + line["height"] / 2, abs=1.5)
    assert boxes[1][0]["width"] > 1.4 * boxes[0][0]["width"]
    assert len(read_page(VIEW_BY_TOOL["plan_trip"]).encode()) + len(json.dumps(shown.answer)) < MAX_BYTES
