"""How well a text fits a name (rule D2)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.rules.name_matching import AUTO_RESOLVE, plain
from fingerpost.transit.rules.name_search import NameSearch


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Töölöntori", "toolontori"),
        ("  KAMPPI (M) ", "kamppi m"),
        ("L'Enfant  Plaza", "l enfant plaza"),
        ("São Paulo / Sé", "sao paulo se"),
        ("Łódź Øst Straße Æ", "lodz ost strasse ae"),
        ("İstanbul", "istanbul"),
        ("東京駅", "東京駅"),
        ("¡!", ""),
    ],
)
def test_plain_spelling(text, expected):
    """Rule D2: case, accents and punctuation do not matter, letters of every script do."""
    assert plain(text) == expected


def score(text: str, name: str) -> float:
    return NameSearch([plain(name)]).score(text).get(0, 0.0)


@pytest.mark.parametrize(
    ("text", "name", "confident"),
    [
        ("kamppi", "Kamppi", True),
        ("KAMPPI", "kamppi", True),
        ("kamppi", "Kamppi (M)", True),
        ("kampi", "Kamppi", True),
        ("vuosari", "Vuosaari", True),
        ("asema", "Pasilan asema", False),
        ("Hakaniemi", "Haapaniemi", False),
        ("Terminal 1", "Terminal 2", False),
        ("East 171 Street", "East 170 Street", False),
        ("kampp", "Kamppiaistie", False),
        ("Kamppi Helsinki", "Kamppi", False),
    ],
)
def test_what_may_be_taken_without_asking(text, name, confident):
    """A name, its beginning or one slip decides; a common word, another number or a part does not.

    B10, rule D2, M21.
    """
    assert (score(text, name) >= AUTO_RESOLVE) is confident


@pytest.mark.parametrize("text", ["zzzz", "Stockholm", "9", "", "  ", "!?", "\N{BUS}"])
def test_what_resembles_nothing(text):
    """Rule D1, rule D2, M51: unrelated text yields no candidate at all."""
    assert NameSearch(["kamppi", "kamppi m", "hakaniemi", "pasilan asema"]).score(text) == {}


NAMES = st.lists(st.text("abcäé1 ", min_size=1, max_size=8).map(plain).filter(bool), unique=True, max_size=12)


@settings(deadline=None)
@given(NAMES)
def test_one_is_for_the_same_name_only(names):
    """Rule D2: each name finds itself with 1, and nothing else does."""
    search = NameSearch(names)

    actual = [[row for row, score in search.score(name).items() if score == 1.0] for name in names]

    assert actual == [[row] for row in range(len(names))]
