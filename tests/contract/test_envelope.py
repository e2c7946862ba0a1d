"""Errors in each contract's envelope: rule A5's table, row by row."""

from datetime import date

import pytest

from fingerpost import errors
from fingerpost.contract.envelope import Contract, find_error_code, format_error_text, new_internal_error, render_error
from fingerpost.errors import (
    BrokenContract,
    DataNotFound,
    FeedUnusable,
    NoItinerary,
    NotAccessible,
    OutsideCalendar,
    ParameterError,
    PlaceAmbiguous,
    PlaceUnknown,
    PlanInvalid,
    QueryTypeUnsupported,
    RegionUnsupported,
    SettingsInvalid,
    SourceChanged,
    SourceFailed,
    SourceKeyRefused,
    SourceLimited,
    SourceTimeout,
    SourceUnreachable,
    StorageUnavailable,
    TextUnknown,
    ToolError,
    ToolNotFound,
)

CANDIDATES = [
    {"name": "Asema", "token": "HSL:1", "matchQuality": 900},
    {"name": "Asematie", "token": "60.200000,24.900000"},
]
GEOCODING = {"service": "geocoding"}

BAD = ("validation-error", "validation-error")
INVALID = (*BAD, "VALIDATION / INVALID_PARAMETER", "VALIDATION_ERROR", "ParameterError")
NOTHING = ("no-itinerary-found", "validation-error")
FAILED = ("upstream-error", "upstream-error")
SOURCE = ("UPSTREAM_ERROR", "StorageUnavailable")
OURS = ("internal-error", "internal-error", "INTERNAL / UNEXPECTED", "INTERNAL_ERROR", "unknown_error")

# What happened, then the plan_trip, get_departures, lookup, planJourney and plan-step contracts.
TABLE = [
    (ParameterError("x"), *INVALID),
    (PlanInvalid("x"), *INVALID),
    (PlaceUnknown("x"), *BAD, "NOT_FOUND / STOP_NOT_FOUND", "VALIDATION_ERROR", "ParameterError"),
    (TextUnknown("x"), *BAD, "NO_RESULTS / NO_MATCH", "VALIDATION_ERROR", "ParameterError"),
    (
        QueryTypeUnsupported("q", "t"),
        *BAD,
        "VALIDATION / INVALID_QUERY_TYPE",
        "VALIDATION_ERROR",
        "QueryTypeUnsupported",
    ),
    (ToolNotFound("t"), *BAD, "VALIDATION / INVALID_TOOL", "VALIDATION_ERROR", "ToolNotFound"),
    (
        PlaceAmbiguous("x", {"candidates": CANDIDATES}),
        *(*BAD, "DISAMBIGUATION_REQUIRED / MULTIPLE_CANDIDATES", "DISAMBIGUATION_REQUIRED", "ParameterError"),
    ),
    (
        RegionUnsupported("x"),
        *("unsupported-region", "validation-error", "NO_RESULTS / OUT_OF_BOUNDS", "VALIDATION_ERROR", "ParameterError"),
    ),
    (DataNotFound("x"), *NOTHING, "NO_RESULTS / NO_MATCH", "OK", "DataNotFound"),
    (NoItinerary("x"), *NOTHING, "NO_RESULTS / NO_MATCH", "OK", "DataNotFound"),
    (OutsideCalendar("x"), *NOTHING, "NO_RESULTS / NO_SERVICE", "OK", "DataNotFound"),
    (
        SourceLimited("x", retry_after_s=2.1),
        *("rate-limited", "rate-limited", "THROTTLED / RATE_LIMITED", "RATE_LIMIT_EXCEEDED", "StorageUnavailable"),
    ),
    (
        SourceTimeout("x"),
        *("upstream-timeout", "upstream-timeout", "UPSTREAM_FAILURE / UPSTREAM_TIMEOUT"),
        *("UPSTREAM_TIMEOUT", "StorageUnavailable"),
    ),
    (SourceUnreachable("x"), "network-error", "upstream-error", "UPSTREAM_FAILURE / NETWORK_ERROR", *SOURCE),
    (SourceFailed("x"), *FAILED, "UPSTREAM_FAILURE / ROUTING_FAILED", *SOURCE),
    (SourceFailed("x", GEOCODING), *FAILED, "UPSTREAM_FAILURE / GEOCODING_FAILED", *SOURCE),
    (SourceChanged("x"), *FAILED, "UPSTREAM_FAILURE / ROUTING_UNREADABLE", *SOURCE),
    (SourceChanged("x", GEOCODING), *FAILED, "UPSTREAM_FAILURE / GEOCODING_UNREADABLE", *SOURCE),
    (StorageUnavailable("x"), *FAILED, "UPSTREAM_FAILURE / ROUTING_FAILED", *SOURCE),
    (SourceKeyRefused("x"), *FAILED, "AUTH_FAILURE / INVALID_API_KEY", *SOURCE),
    (SourceKeyRefused("x", {"missing": True}), *FAILED, "AUTH_FAILURE / MISSING_API_KEY", *SOURCE),
    (BrokenContract("x"), *OURS),
    (SettingsInvalid("x"), *OURS),
    (NotAccessible("x"), *OURS),
    (FeedUnusable("x"), *OURS),
    (ToolError("x"), *OURS),
]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{type(row[0]).__name__}{'-'.join(['', *row[0].details])}") for row in TABLE]
)
def test_every_contract_names_the_cause(row):
    """A5, P36-P42, D28-D31, M48, M49, J11-J20, S6, S47: nothing found is a success in London, a warning in a plan."""
    error, *expected = row
    london = render_error(error, Contract.LONDON, "id")
    step = render_error(error, Contract.STEP, "id", tool="t", parameters={"a": 1})
    lookup = render_error(error, Contract.LOOKUP, "id")["error"]

    assert [
        render_error(error, Contract.PLAN_TRIP, "id")["error"]["code"],
        render_error(error, Contract.BOARD, "id")["error"]["code"],
        f"{lookup['category']} / {lookup['code']}",
        london["code"],
        step["error_code"],
    ] == expected
    assert london["success"] == (london["code"] == "OK")
    assert (step[_kind_of(step)], step["success"], step["results"]) == (error.message, False, [])


def _kind_of(step):
    return "warning" if step["error_code"] == "DataNotFound" else "error"


def test_the_table_has_a_row_for_every_class():
    """A5: no branch of the tree is without words."""
    classes = {item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, ToolError)}
    assert {type(row[0]) for row in TABLE} == classes


WRONG = {"code": "validation-error", "correlationId": "uuid"}
CHOICE = {"candidates": CANDIDATES}
TOKEN = {"hint": "Send a token"}
SET = {"side": "origin", **CHOICE, "totalCandidatesFound": 7, "truncated": True}
FIELDS = {"field": "rawText", "errors": [{"field": "rawText", "reason": "rawText is missing"}]}


@pytest.mark.parametrize(
    ("error", "contract", "expected"),
    [
        (ParameterError("origin and destination must differ"), Contract.PLAN_TRIP, WRONG),
        (
            NoItinerary("No itineraries for given constraints"),
            Contract.PLAN_TRIP,
            {
                "code": "no-itinerary-found", "correlationId": "uuid",
                "hint": "Try increasing maxWalkingDistance or adjusting departure time",
            },
        ),
        (PlaceAmbiguous("Which?", CHOICE, **TOKEN), Contract.PLAN_TRIP, WRONG | CHOICE | TOKEN),
        (ParameterError("stop id missing"), Contract.BOARD, WRONG),
        (PlaceAmbiguous("Which?", CHOICE, **TOKEN), Contract.BOARD, WRONG | CHOICE | TOKEN),
        (
            SourceKeyRefused("TfL refused the key"),
            Contract.BOARD,
            {
                "code": "upstream-error", "correlationId": "uuid",
                "hint": "The operator must set a valid key for this source",
            },
        ),
        (
            PlaceAmbiguous("'Asema' may be 7 places", SET, hint="Send a token as rawText"),
            Contract.LOOKUP,
            {
                "category": "DISAMBIGUATION_REQUIRED", "code": "MULTIPLE_CANDIDATES", "details": SET,
                "recommendation": "Send a token as rawText",
            },
        ),
        (
            ParameterError("rawText is missing", FIELDS),
            Contract.LOOKUP,
            {"category": "VALIDATION", "code": "INVALID_PARAMETER", "details": FIELDS},
        ),
    ],
)  # fmt: skip
def test_a_failure_is_the_contracts_envelope(error, contract, expected):
    """A5, D37, M48-M52, P38, P65, P66: the examples as printed; hints, choices and fields beside the message."""
    assert render_error(error, contract, "uuid") == {"error": {"message": error.message, **expected}}


@pytest.mark.parametrize(("wait_s", "expected"), [(2.0, 2), (2.1, 3), (0.2, 1), (0.0, 0), (-1.0, 0)])
def test_retry_after_is_whole_seconds_rounded_up(wait_s, expected):
    """A5, P41, D31: always there when the rate is limited, in every envelope that has room for it."""
    error = SourceLimited("Too many calls", retry_after_s=wait_s)
    assert [
        render_error(error, Contract.PLAN_TRIP, "id")["error"]["retryAfter"],
        render_error(error, Contract.BOARD, "id")["error"]["retryAfter"],
        render_error(error, Contract.LOOKUP, "id")["error"]["details"],
        render_error(error, Contract.LONDON, "id")["message"],
        render_error(error, Contract.STEP, "id")["retry_after"],
    ] == [
        expected,
        expected,
        {"retryAfter": expected},
        f"Too many calls. Wait {expected} s before the next call.",
        expected,
    ]


def test_particulars_of_a_source_stay_inside():
    """J22, P77: what an upstream said is not passed on."""
    error = SourceFailed("Digitransit answered 502", {"url": "https://example.org/?key=secret"})
    assert [contract for contract in Contract if "secret" in str(render_error(error, contract, "id"))] == []


def test_a_day_outside_the_calendar_names_the_days_inside():
    """A5: the hint names the covered dates."""
    error = errors.new_outside_calendar_error("HSL", date(2022, 2, 20), date(2022, 3, 20))
    hint = render_error(error, Contract.PLAN_TRIP, "id")["error"]["hint"]
    assert hint == "Choose a date from 2022-02-20 to 2022-03-20"


@pytest.mark.parametrize(
    ("error", "contract", "expected"),
    [
        (ParameterError("from and to must differ"), Contract.PLAN_TRIP, "validation-error: from and to must differ."),
        (
            NoItinerary("No itineraries"),
            Contract.PLAN_TRIP,
            "no-itinerary-found: No itineraries. Try increasing maxWalkingDistance or adjusting departure time.",
        ),
        (
            SourceLimited("Too many calls!", retry_after_s=2.5),
            Contract.BOARD,
            "rate-limited: Too many calls! Wait 3 s before the next call.",
        ),
        (
            PlaceAmbiguous("Which Asema?", CHOICE),
            Contract.LOOKUP,
            "MULTIPLE_CANDIDATES: Which Asema? Candidates: Asema (HSL:1); Asematie (60.200000,24.900000).",
        ),
        (
            PlaceAmbiguous("Which?", {"candidates": [{"name": f"A{n}", "token": f"T{n}"} for n in range(7)]}),
            Contract.BOARD,
            "validation-error: Which? Candidates: A0 (T0); A1 (T1); A2 (T2); A3 (T3); A4 (T4); A5 (T5); A6 (T6).",
        ),
    ],
)
def test_the_text_twin_is_self_contained(error, contract, expected):
    """A5: code, sentence and hint, and the choices."""
    assert format_error_text(error, contract) == expected


@pytest.mark.parametrize("contract", Contract)
def test_an_unforeseen_error_is_our_fault(contract):
    """A5, J20: an exception outside the tree has the root's code, and the correlation id to find it by."""
    error = new_internal_error("0b5f")
    assert find_error_code(error, contract) == find_error_code(ToolError("x"), contract)
    assert "correlation id 0b5f" in str(render_error(error, contract, "0b5f", tool="t"))


SUGGESTED = [{"parameterValue": "HSL:1", "matchQuality": 900}, {"parameterValue": "60.200000,24.900000"}]
BOTH = {"side": "from", "candidates": CANDIDATES[1:], "other": {"side": "to", "candidates": CANDIDATES[:1]}}


@pytest.mark.parametrize(
    ("details", "message", "of_origin", "of_destination"),
    [
        *(({"side": side, **CHOICE}, "", SUGGESTED, []) for side in ("from", "origin")),
        *(({"side": side, **CHOICE}, "", [], SUGGESTED) for side in ("to", "destination")),
        (
            BOTH,
            "Candidates for from: Asematie (60.200000,24.900000). Candidates for to: Asema (HSL:1).",
            SUGGESTED[1:],
            SUGGESTED[:1],
        ),
    ],
)
def test_the_plan_journey_contract_fills_the_side_that_is_unclear(details, message, of_origin, of_destination):
    """J10, J14, J16, J23, E1: suggestions on one side, an empty list on the other; both, told apart in the message."""
    assert render_error(PlaceAmbiguous("Which one", details), Contract.LONDON, "id") == {
        "success": False,
        "code": "DISAMBIGUATION_REQUIRED",
        "message": f"Which one. {message or 'Candidates: Asema (HSL:1); Asematie (60.200000,24.900000).'}",
        "topJourneys": None,
        "fromLocationDisambiguation": of_origin,
        "toLocationDisambiguation": of_destination,
    }
