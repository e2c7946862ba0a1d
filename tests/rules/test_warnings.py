"""Warnings (rules A2 and B11)."""

import re

from fingerpost.transit.rules.warnings import WarningCode, Warnings


def test_one_entry_a_code_in_the_order_of_first_mention():
    warnings = Warnings()
    for code, message in [
        (WarningCode.PREFERENCE_UNMET, "Walk."),
        (WarningCode.TRUNCATED_RESULTS, "More."),
        (WarningCode.PREFERENCE_UNMET, "Steps."),
        (WarningCode.PREFERENCE_UNMET, "Walk."),
    ]:
        warnings.add(code, message)

    actual = [(each.code, each.message) for each in warnings.list_all()]

    assert actual == [("preference-unmet", "Walk. Steps."), ("truncated-results", "More.")]


def test_codes_are_in_kebab_case():
    assert [code for code in WarningCode if not re.fullmatch(r"[a-z]+(-[a-z]+)*", code)] == []
