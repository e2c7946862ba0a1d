"""Two numbers for one thing: rounded, split, or restated; each bound from both sides."""

import pytest

from fingerpost.filings.revisions import is_in_shares, is_per_share, is_rounding, kind_of_change


@pytest.mark.parametrize(
    ("precise", "coarse", "is_one"),
    [
        (394328, 394300, True),
        (394328, 394000, True),
        (394328, 394329, False),
        (394328, 394328, False),
        (394300, 394328, False),
        (0, 0.001, False),
        (199, 200, True),
        (101, 100, True),
        (1011, 1000, False),
        (1.234, 1.23, True),
        (1.239, 1.23, True),
        (1.24, 1.23, False),
        (-394328, -394300, True),
    ],
)
def test_a_rounding_has_fewer_digits_and_lies_near(precise, coarse, is_one):
    """Within a step of its own last digit, and within a hundredth of the figure."""
    assert is_rounding(precise, coarse) is is_one


@pytest.mark.parametrize(
    ("before", "after", "unit", "ratios", "kind"),
    [
        (394328, 394300, "USD", [], "rounded"),
        (394300, 394328, "USD", [], "rounded"),
        (100, 95, "USD", [], "restated"),
        (100, 25, "USD", [4], "restated"),
        (6.00, 1.50, "USD/shares", [4], "split"),
        (6.00, 1.50, "USD/shares", [7], "restated"),
        (6.00, 1.50, "USD/shares", [], "split"),
        (6.00, 2.40, "USD/shares", [], "restated"),
        (1500, 6000, "shares", [4], "split"),
        (6000, 1500, "shares", [4], "restated"),
        (1500, 6070, "shares", [4], "restated"),
        (1500, 6050, "shares", [4], "split"),
        (1.01, 0.25, "USD/shares", [4], "split"),
        (0.05, 0.01, "USD/shares", [4], "restated"),
        (6.00, -1.50, "USD/shares", [4], "restated"),
        (0, 1.50, "USD/shares", [4], "restated"),
        (1.50, 0, "USD/shares", [4], "restated"),
        (10, 1000, "shares", [], "split"),
        (10, 1010, "shares", [], "restated"),
        (10, 20, "shares", [], "split"),
        (1000, 1010.5, "shares", [], "restated"),
    ],
)
def test_the_kind_of_a_change(before, after, unit, ratios, kind):
    """A split moves figures per share and counts of shares alone, by a ratio that is known or, if none is, whole."""
    assert kind_of_change(before, after, unit, ratios) == kind


@pytest.mark.parametrize(
    ("unit", "per_share", "in_shares"), [("USD/shares", True, True), ("shares", False, True), ("USD", False, False)]
)
def test_units_of_shares(unit, per_share, in_shares):
    """Dollars a share, and shares."""
    assert (is_per_share(unit), is_in_shares(unit)) == (per_share, in_shares)
