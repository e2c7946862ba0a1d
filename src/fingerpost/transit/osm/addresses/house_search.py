"""Finds a house number on a street: where it is known, or between two that are."""

import sqlite3
from dataclasses import dataclass

from fingerpost.transit.osm.addresses.extract import Point, apart_m
from fingerpost.transit.osm.addresses.house_number import HouseNumber

# Whoever is taken this far from a house has been taken to it (rule D2: so far apart, two places are rivals).
CERTAIN_M = 300.0
GUESSED = 0.97
UNCERTAIN = 0.79


@dataclass(frozen=True, slots=True)
class FoundHouse:
    """Where a house number is.

    ``number`` is the known one that was found, or the one that was asked for where it is guessed; "" where nothing
    but the street is known. ``fit`` is how well it fits (0..1). ``guess`` says what is guessed, None where nothing is.
    """

    number: str
    at: Point
    fit: float
    guess: str | None = None


class HouseSearch:
    """Looks up houses over one open index; one caller at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, street: int, number: HouseNumber, middle: Point, reach_m: float) -> FoundHouse:
        """Return where a number is on a street; ``middle`` and ``reach_m`` are the street's."""
        known = self._find_known(street, number)
        if known is not None:
            return known
        between = self._find_between(street, number)
        if between is not None:
            return between
        return FoundHouse(
            "",
            middle,
            UNCERTAIN if reach_m > CERTAIN_M else GUESSED,
            f"number {number.text} is not known; this is the middle of the street",
        )

    def has_any(self, thing: int) -> bool:
        """Whether anything has numbers."""
        return self._connection.execute("SELECT 1 FROM house WHERE street = ? LIMIT 1", (thing,)).fetchone() is not None

    def _find_known(self, street: int, number: HouseNumber) -> FoundHouse | None:
        rows = self._connection.execute(
            "SELECT first, last, letter, lat, lon, is_guessed FROM house"
            " WHERE street = ? AND first <= ? AND last >= ? ORDER BY last <> ?, letter <> ?, first <> ?, letter, last",
            (street, number.first, number.first, number.last, number.letter, number.first),
        )
        for first, last, letter, lat, lon, is_guessed in rows:
            house = HouseNumber(first, last, letter)
            if house.covers(number.first):
                guess = (
                    f"the place of number {house.text} is read off a line between two others" if is_guessed else None
                )
                return FoundHouse(house.text, (lat, lon), GUESSED if is_guessed else 1.0, guess)
        return None

    def _find_between(self, street: int, number: HouseNumber) -> FoundHouse | None:
        """Return the place between the nearest numbers below and above, of the same side where there are such."""
        for step in (2, 1):
            below = self._find_beside(street, number.first, step, "last < ?", "last DESC")
            above = self._find_beside(street, number.first, step, "first > ?", "first")
            if below is None or above is None:
                continue
            (low, low_at), (high, high_at) = below, above
            share = (number.first - low.last) / (high.first - low.last)
            at = low_at[0] + (high_at[0] - low_at[0]) * share, low_at[1] + (high_at[1] - low_at[1]) * share
            is_certain = apart_m(low_at, high_at) <= 2 * CERTAIN_M
            guess = f"the place of number {number.text} is guessed between {low.text} and {high.text}"
            return FoundHouse(number.text, at, GUESSED if is_certain else UNCERTAIN, guess)
        return None

    def _find_beside(
        self, street: int, number: int, step: int, side: str, order: str
    ) -> tuple[HouseNumber, Point] | None:
        column = side.split()[0]
        row = self._connection.execute(
            "SELECT first, last, letter, lat, lon FROM house"  # noqa: S608  # words of this file only
            f" WHERE street = ? AND {side} AND ({column} - ?) % {step} = 0 AND NOT is_guessed"
            f" ORDER BY {order}, letter LIMIT 1",
            (street, number, number),
        ).fetchone()
        if row is None:
            return None
        first, last, letter, lat, lon = row
        return HouseNumber(first, last, letter), (lat, lon)
