"""The error classes: those of the plan-step contract, and their subclasses."""

import pytest

from fingerpost.errors import (
    DataNotFound,
    NoItinerary,
    ParameterError,
    QueryTypeUnsupported,
    SourceKeyRefused,
    SourceLimited,
    SourceTimeout,
    StorageUnavailable,
    ToolError,
    ToolNotFound,
    advise,
)


def test_tool_error_has_message_and_details():
    """S56: a ToolError has message, details and a message for people."""
    error = ToolError("The source is closed", {"until": "06:00"})
    assert (error.message, error.details, error.user_message(), str(error)) == (
        "The source is closed",
        {"until": "06:00"},
        "The source is closed",
        "The source is closed",
    )
    assert (ToolError("a").details, ToolError("a").details is ToolError("b").details) == ({}, False)


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        ({"field": "ticker"}, "The parameter 'ticker' is invalid: must not be empty"),
        ({}, "Invalid parameter: must not be empty"),
        (None, "Invalid parameter: must not be empty"),
    ],
)
def test_parameter_error_names_the_field_where_it_is_known(details, expected):
    """S57: the user message of a ParameterError has two forms."""
    assert ParameterError("must not be empty", details).user_message() == expected


def test_query_type_unsupported_lists_what_is_supported():
    """S58: attributes, message and details as the plan-step contract prints them."""
    error = QueryTypeUnsupported("weather", "sec_financial_data", ["financial_facts", "company_info"])
    assert (error.query_type, error.tool_name, error.supported_types) == (
        "weather",
        "sec_financial_data",
        ["financial_facts", "company_info"],
    )
    assert error.message == (
        "Query type 'weather' is not supported by the sec_financial_data tool."
        " Supported types are: financial_facts, company_info"
    )
    assert error.details == {
        "query_type": "weather",
        "tool_name": "sec_financial_data",
        "supported_types": ["financial_facts", "company_info"],
    }
    bare = QueryTypeUnsupported("weather", "x")
    assert (bare.message, bare.supported_types) == ("Query type 'weather' is not supported by the x tool.", [])


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (ToolNotFound("plan_trp"), ValueError, "Tool 'plan_trp' not found in registry"),
        (DataNotFound("No figure for 1890"), LookupError, "No figure for 1890"),
    ],
)
def test_some_errors_are_pythons_own_too(error, kind, message):
    """S61, F1: the contract's words."""
    assert (isinstance(error, kind), str(error)) == (True, message)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (StorageUnavailable("x"), True),
        (SourceTimeout("x"), True),
        (SourceLimited("x", retry_after_s=2), True),
        (SourceKeyRefused("x"), False),
        (ParameterError("x"), False),
        (NoItinerary("x"), False),
    ],
)
def test_only_a_source_that_may_recover_is_worth_a_retry(error, expected):
    """P36-P42: arguments and keys do not mend themselves."""
    assert error.retryable == expected


@pytest.mark.parametrize(
    "error",
    [
        SourceLimited("Wait", retry_after_s=3.0),
        QueryTypeUnsupported("a", "b"),
        ToolNotFound("c"),
        DataNotFound("Nothing"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_with_another_message_stays_the_same_otherwise(error):
    """Type, details and what the branch adds are kept, also where the constructor takes no message."""
    changed = error.with_message("Other", hint="Do this")

    assert type(changed) is type(error)
    assert (str(changed), changed.message, changed.hint) == ("Other", "Other", "Do this")
    assert vars(changed) == vars(error) | {"message": "Other", "remedy": advise("Do this")}
