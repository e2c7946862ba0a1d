"""Scores of names, against a slow and obvious reading of the rules at the top of ``name_search``."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.rules.name_matching import plain
from fingerpost.transit.rules.name_search import NameSearch


def likeness(one, other):
    """Twice the longest common subsequence over both lengths."""
    row = [0] * (len(other) + 1)
    for letter in one:
        before = row[:]
        for at, its in enumerate(other, 1):
            row[at] = before[at - 1] + 1 if letter == its else max(before[at], row[at - 1])
    return 2 * row[-1] / (len(one) + len(other))


def has_digit(word):
    return any(letter.isdigit() for letter in word)


def numbers(text):
    return {word for word in text.split() if has_digit(word)}


def near(word, other):
    """How near a word of the text is to a word of the name: its beginning, or spelt alike; 0 if neither."""
    begins = len(word) / len(other) if other.startswith(word) else 0.0
    alike = 0.0 if has_digit(word) or has_digit(other) else likeness(word, other)
    return max(begins, alike if alike >= 0.75 else 0.0)


def slow_score(wanted, name):
    if wanted == name:
        return 1.0
    share, words, own = min(1.0, len(wanted) / len(name)), set(wanted.split()), name.split()
    spelt = 0.92 * likeness(wanted, name)
    readings = [spelt if numbers(wanted) == numbers(name) else min(spelt, 0.70)]
    if words <= set(own):
        begins = name.startswith(wanted + " ") and len(wanted) >= 3
        readings.append(0.88 + 0.10 * share if begins else 0.74 + 0.14 * share)
    nearest = {word: max(near(word, other) for other in own) for word in words}
    if min(nearest.values()) > 0:
        letters = sum(map(len, words))
        whole = sum(len(word) / letters * its for word, its in nearest.items())
        readings.append(0.62 + 0.16 * whole * share)
    if set(own) <= words:
        readings.append(0.62 + 0.16 * min(1.0, len(name) / len(wanted)))
    best = max(readings)
    return best if best >= 0.60 else 0.0


@pytest.mark.parametrize(
    ("text", "name", "score"),
    [
        ("kamppi", "kamppi", 1.0),
        ("kamppi", "kamppi m", 0.955),
        ("ka", "ka puisto", 0.7711),
        ("asema", "pasilan asema", 0.7938),
        ("kampi", "kamppi", 0.8364),
        ("terminal 1", "terminal 2", 0.70),
        ("metro station hakaniemi", "hakaniemi", 0.6826),
        ("tori pas", "pasilan tori", 0.7005),
    ],
)
def test_a_score_by_each_reading(text, name, score):
    """D2: same, begins, too short to settle, has the word, one slip, another number, more words, beginnings."""
    assert NameSearch([name]).score(text)[0] == pytest.approx(score, abs=1e-4)
    assert slow_score(text, name) == pytest.approx(score, abs=1e-4)


WORDS = st.lists(st.sampled_from(["asema", "asem", "asemat", "tori", "torin", "a", "ab", "1", "12", "p1", "xyz"]),
                 min_size=1, max_size=3)  # fmt: skip
TEXTS = st.one_of(WORDS.map(" ".join), st.text("abcdä1 ", min_size=1, max_size=9).map(plain).filter(bool))


@settings(deadline=None, max_examples=300)
@given(st.lists(TEXTS, min_size=1, max_size=6, unique=True), TEXTS)
def test_every_score_is_that_of_the_slow_reading(names, text):
    """D2: whichever names stand beside it, each has the score of the best reading that applies."""
    scores = NameSearch(names).score(text)
    for row, name in enumerate(names):
        expected = slow_score(text, name)
        # A likeness at the very floor may fall on either side of it.
        if abs(expected - 0.60) > 1e-3 and expected > 0:
            assert scores.get(row, 0.0) == pytest.approx(expected, abs=2e-4), (text, name)
        elif expected == 0:
            assert scores.get(row, 0.0) <= 0.601, (text, name)
