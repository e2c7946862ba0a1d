"""planJourney with TfL (planJourney contract, rules E1, E2); tests/contracts covers our own engines."""

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.store.variables import VariableStore
from fingerpost.transit.networks.wrappers import CircuitBreakerNetwork, FallbackNetwork, NetworkBreaker
from tests.contracts.test_plan_journey_contract import hop, london
from tests.fakes import FakeNetwork, FakeNetworks
from tests.tfl.asking import NO_JOURNEY, SECRET, a_leg, asking, journeys, planning

JOURNEYS = "/Journey/JourneyResults/"
FOUND = journeys(a_leg("09:05", "09:15", 10))


def unclear(**ends):
    return 300, {f"{end}LocationDisambiguation": status for end, status in ends.items()}


def choices(*options):
    told = [{"parameterValue": value, "matchQuality": quality} for value, quality in options]
    kept = [{key: value for key, value in each.items() if value is not None} for each in told]
    return {"matchStatus": "list", "disambiguationOptions": kept}


async def body_of(told, tmp_path, origin="A", destination="B", **more):
    async with planning({JOURNEYS: told}, tmp_path) as (ask, server):
        return (await ask(origin, destination, **more)).body, server


async def test_texts_go_to_tfl_as_they_were_sent(tmp_path):
    """J2, J3: TfL reads names, postcodes and codes itself; spaces and slashes are quoted, ids of ours lose our FEED."""
    _, server = await body_of(FOUND, tmp_path, "SE1 9GF / Bank & co", "tfl:940gzzluoxc")

    assert server.asked[0].target.startswith(
        "/Journey/JourneyResults/SE1%209GF%20%2F%20Bank%20%26%20co/to/940GZZLUOXC?"
    )


async def test_the_answer_is_tfls(tmp_path):
    """J11, J12, A10: TfL is named, and nothing is said of an engine of ours; what has left is no answer (B12)."""
    body, _ = await body_of(journeys(a_leg("08:55", "09:05", 10), a_leg("09:05", "09:15", 10)), tmp_path)

    assert (body["success"], body["topJourneys"][0]["startDateTime"]) == (True, "2026-06-10T09:05:00+01:00")
    assert body["message"].startswith("1 journey, 10 min. Data: Powered by TfL Open Data; ")
    assert body["message"].endswith("TfL, retrieved 2026-06-10T09:00:00+01:00.")
    assert [ride["mode"] for ride in body["topJourneys"][0]["lines"]] == ["METRO"]


async def test_step_free_to_the_platform_is_requested(tmp_path):
    """J4, E2: and the message says what was applied."""
    body, server = await body_of(FOUND, tmp_path, needAccessibleRoute=True)

    assert server.questions[0]["accessibilityPreference"] == "StepFreeToPlatform"
    assert "Requested: step-free to the platform (StepFreeToPlatform)." in body["message"]
    assert "accessibilityPreference" not in (await body_of(FOUND, tmp_path))[1].questions[0]


async def test_suggestions_are_in_tfls_order_of_quality(tmp_path):
    """E1, J24: without a quality last, without a parameterValue not at all, five at most; the clear side is empty."""
    options = choices(("a", 900), ("b", None), ("", 999), (None, 998), ("c", 950), ("d", 900), ("e", 1), ("f", 2))
    body, _ = await body_of(unclear(to=options, **{"from": {"matchStatus": "identified"}}), tmp_path)

    assert body["fromLocationDisambiguation"] == []
    assert body["toLocationDisambiguation"] == [
        {"parameterValue": "c", "matchQuality": 950},
        {"parameterValue": "a", "matchQuality": 900},
        {"parameterValue": "d", "matchQuality": 900},
        {"parameterValue": "f", "matchQuality": 2},
        {"parameterValue": "e", "matchQuality": 1},
    ]


@pytest.mark.parametrize(("end", "text"), [("from", "A"), ("to", "B")])
async def test_an_end_that_is_not_identified_is_named(end, text, tmp_path):
    """E2: a fault of the question, whatever the other end is."""
    told = unclear(**{"from": choices(("x", 1)), "to": choices(("x", 1)), end: {"matchStatus": "notIdentified"}})
    body, _ = await body_of(told, tmp_path)

    assert (body["code"], body["fromLocationDisambiguation"]) == ("VALIDATION_ERROR", None)
    assert body["message"].startswith(f"TfL found no place for '{text}' ({end}).")


@pytest.mark.parametrize("text", ["..", ".", "/", "?!"])
async def test_a_text_without_a_letter_or_digit_is_not_sent(text, tmp_path):
    """E2: it names no place, and dots would lead to another address of TfL's."""
    body, server = await body_of(FOUND, tmp_path, "A", text)

    assert (body["code"], server.asked) == ("VALIDATION_ERROR", [])
    assert f"'{text}' (to)" in body["message"]


async def test_no_journey_is_a_success(tmp_path):
    """E2: the reason stands in the message."""
    body, _ = await body_of((404, NO_JOURNEY), tmp_path)

    assert (body["success"], body["code"], body["topJourneys"]) == (True, "OK", [])
    assert body["message"].startswith("No journey was found: TfL found no journey (No journey found for your inputs).")


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ((409, {"message": "planner down"}), "UPSTREAM_ERROR"),
        ((503, {}), "UPSTREAM_ERROR"),
        ((403, {}), "UPSTREAM_ERROR"),
        ((429, {"message": "Too many requests"}), "RATE_LIMIT_EXCEEDED"),
        ((429, {"message": "Invalid app_key"}), "UPSTREAM_ERROR"),
    ],
)
async def test_failures_have_their_codes_and_no_key(told, code, tmp_path):
    """J17-J20, J22, A5: 429 for a key that TfL does not know is no limit; the key is in no answer."""
    body, server = await body_of(told, tmp_path)

    assert (body["success"], body["code"]) == (False, code)
    assert server.asked[0].headers["app_key"] == SECRET
    assert SECRET not in str(body)
    assert SECRET not in server.asked[0].target


async def test_a_saved_place_goes_by_its_position(tmp_path):
    """B10: TfL knows nothing of our users' variables."""
    async with asking({JOURNEYS: FOUND}) as (network, server):
        store = VariableStore(tmp_path / "variables.sqlite")
        tools = {tool.name: tool for tool in list_tools(FakeNetworks(network), store)}
        saved = {"key": "home", "type": "location", "value": {"lat": 51.5, "lon": -0.2}}
        await tools["save_user_variable"].answer(saved, user="ann")
        await tools["planJourney"].answer({"from": "home", "to": "B"}, user="ann")

    assert server.paths[0] == f"{JOURNEYS}51.500000,-0.200000/to/B"


@pytest.mark.parametrize(
    ("told", "departure", "is_fallback"),
    [(FOUND, "2026-06-10T09:05:00+01:00", False), ((500, {}), "2022-02-22T06:00:00+00:00", True)],
)
async def test_a_fallback_answers_failures_and_is_reported(told, departure, is_fallback, tmp_path, monkeypatch):
    """A13: the ends are resolved for the fallback, which reads no texts itself."""
    monkeypatch.setenv("FINGERPOST_NOW", "2022-02-22T06:00:00Z")
    own = london(hop(0, 10), name="OFFLINE")
    async with asking({JOURNEYS: told, "/StopPoint/Search": (500, {})}) as (network, _):
        guarded = CircuitBreakerNetwork(network, NetworkBreaker(), "tfl")
        tools = list_tools(
            FakeNetworks(FallbackNetwork(guarded, own)), VariableStore(tmp_path / "v.sqlite"), ["london"]
        )
        body = (await tools[0].answer({"from": "A", "to": "B"}, user="ann")).body

    assert body["topJourneys"][0]["startDateTime"] == departure
    assert ("its fallback OFFLINE answered" in body["message"], "not by TfL" in body["message"]) == (is_fallback,) * 2


async def test_tfl_goes_before_an_engine_of_ours(tmp_path):
    """E3: and where TfL has no fallback, its failure is told, not hidden behind another answer."""
    async with asking({JOURNEYS: (500, {})}) as (network, _):
        networks = FakeNetworks(london(hop(0, 10)), network, FakeNetwork())
        (tool,) = list_tools(networks, VariableStore(tmp_path / "v.sqlite"), ["london"])
        body = (await tool.answer({"from": "A", "to": "B"}, user="ann")).body

    assert body["code"] == "UPSTREAM_ERROR"
