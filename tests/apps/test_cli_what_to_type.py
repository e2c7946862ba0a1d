"""What an error at a terminal says to type instead: a whole line, in a terminal's words."""

import shlex

import pytest


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["plan", "kamp", "Espoo"], "fingerpost plan DEMO-HELSINKI:KAMPPI Espoo"),
        (["plan", "Espoo", "kamp", "--limit", "1"], "fingerpost plan Espoo DEMO-HELSINKI:KAMPPI --limit 1"),
        (["plan", "kamp", "kamp"], "fingerpost plan DEMO-HELSINKI:KAMPPI kamp"),
        (["plan", "kamp", "Kamppi (M)"], "fingerpost plan DEMO-HELSINKI:KAMPPI 'Kamppi (M)'"),
        (["departures", "kamp"], "fingerpost departures DEMO-HELSINKI:KAMPPI"),
        (["timetable", "kamp"], "fingerpost timetable DEMO-HELSINKI:KAMPPI"),
        (["vars", "set", "kamp", "kamp"], "fingerpost vars set kamp DEMO-HELSINKI:KAMPPI"),
    ],
)
def test_an_unclear_place_is_answered_with_the_line_to_type(invoke, words, instead):
    """Quoted for a shell, with the best candidate in the place of the text."""
    told = invoke(*words).stderr

    assert f"such as `{instead}`." in told
    assert "send" not in told.lower()


def test_the_line_to_type_can_be_typed(invoke):
    """It is answered."""
    told = invoke("departures", "kamp").stderr

    assert invoke(*shlex.split(told.split("`")[1])[1:]).returncode == 0


def test_what_may_be_kept_by_name_is_listed_with_tokens_first(invoke):
    """As for a trip."""
    assert "\n  DEMO-HELSINKI:KAMPPI  Kamppi (lines " in invoke("vars", "set", "x", "kamp").stderr
