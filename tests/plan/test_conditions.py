"""Conditions: what is allowed, and the messages for what is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.plan.conditions import ConditionFailed, ConditionInvalid, check_condition, is_true

EXAMPLES = "valid examples: value is not None, len(results) > 0, value['total'] >= 1"
NAMES = {"value": [1, 2], "results": [{"v": 3}], "memory": {"a": {"success": True}}, "revenue": {"data": 4}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("True", True),
        ("False", False),
        ("value is not None", True),
        ("results is not None and len(results) > 0", True),
        ("len(value) == 2 and value[1] == 2", True),
        ("memory['a']['success'] and not (revenue['data'] < 4)", True),
        ("3 in value or 'x' in ['x', 'y']", True),
        ("-1 < 0 < len(value)", True),
        ("0 < 0 < value", False),
        ("sum(value) == 3 and abs(-2) == max(value)", True),
        ("value", True),
        ("None", False),
    ],
)
def test_conditions_may_use_these_expressions(text, expected):
    check_condition(text, "revenue")

    assert is_true(text, NAMES) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("value not None", f"syntax error at column 11; {EXAMPLES}"),
        ("value.total > 1", f"Attribute is not allowed; {EXAMPLES}"),
        ("foo > 1", "unknown name 'foo'; the known names are memory, results, value, revenue"),
        ("sum(value, [])", "sum takes one argument"),
        ("__import__('os').system('id')", "only abs, all, any, len, max, min, sum may be called"),
        ("value.__class__.__mro__()", "only abs, all, any, len, max, min, sum may be called"),
        ("9**9**9", f"BinOp is not allowed; {EXAMPLES}"),
        ("1 if value else 0", f"IfExp is not allowed; {EXAMPLES}"),
        ("[x for x in value]", f"ListComp is not allowed; {EXAMPLES}"),
        ("len", "unknown name 'len'; the known names are memory, results, value, revenue"),
        ("sum(*value)", f"Starred is not allowed; {EXAMPLES}"),
        ("max(value, key=len)", "max takes positional arguments only"),
        ("b'x' == 1", "a value of type bytes is not allowed"),
        ("", f"syntax error at column 1; {EXAMPLES}"),
        ("'\ud800' == 'a'", "it is nested too deeply, or contains a number or a character that cannot be read"),
        ("not " * 30 + "True", "it is nested more than 20 levels deep"),
        ("1 + " * 200 + "1", "it is 801 characters long; the limit is 500"),
    ],
)  # fmt: skip
def test_every_refusal_is_explained_in_words(text, expected):
    with pytest.raises(ConditionInvalid) as caught:
        check_condition(text, "revenue")
    assert str(caught.value) == expected


@pytest.mark.parametrize("text", ["value > 1", "value['x']", "value[9]", "memory[value]", "len(3)"])
def test_values_of_the_wrong_type_are_reported(text):
    check_condition(text, None)
    with pytest.raises(ConditionFailed):
        is_true(text, NAMES)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="value()[]<>=!&|.'\"0123456789 andortifxlsNTrue+-*/%,:_", max_size=60))
def test_any_text_compiles_or_is_refused(text):
    try:
        check_condition(text, "k")
        answer = is_true(text, {"value": 1, "results": [], "memory": {}, "k": "x"})
    except (ConditionInvalid, ConditionFailed) as error:
        answer = str(error) != ""
    assert answer in (True, False)


def test_the_keys_that_a_condition_reads_are_known():
    assert check_condition("memory['a']['b'] and memory[\"c\"]", None) == {"a", "c"}
