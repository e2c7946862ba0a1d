"""Warnings (rules A2 and B11)."""

import re

from fingerpost.transit.rules.warnings import Warning, WarningCode, merge_by_code  # noqa: A004


def test_one_entry_a_code_in_the_order_of_first_mention():
    warnings = [
        Warning(WarningCode.PREFERENCE_UNMET, "Walk."),
        Warning(WarningCode.TRUNCATED_RESULTS, "More."),
        Warning(WarningCode.PREFERENCE_UNMET, "Steps."),
        Warning(WarningCode.PREFERENCE_UNMET, "Walk."),
    ]

    assert merge_by_code(warnings) == (
        Warning(WarningCode.PREFERENCE_UNMET, "Walk. Steps."),
        Warning(WarningCode.TRUNCATED_RESULTS, "More."),
    )


def test_codes_are_in_kebab_case():
    assert [code for code in WarningCode if not re.fullmatch(r"[a-z]+(-[a-z]+)*", code)] == []
