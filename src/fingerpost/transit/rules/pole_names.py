"""Part a stop's name into the place and the pole (rule D2): "Keskustori C" is pole C of Keskustori."""

import re
from collections.abc import Sequence
from typing import NamedTuple

# Words for a pole, a platform or a bay. What follows one of them never names another place.
_POLE_WORDS = (
    "andén", "bahnsteig", "bay", "berth", "binario", "bussteig", "gleis", "laituri", "läge", "perron", "platform",
    "pole", "quai", "quay", "raide", "ramp", "spoor", "spår", "stance", "stand", "steig", "track", "vía", "voie",
)  # fmt: skip
# Words behind which a letter names another place: Avenue B is not Avenue A.
_PLACE_WORDS = frozenset(
    word
    for words in (
        "av ave avenue st str street rd road blvd boulevard dr drive ln lane pl place way route rte highway hwy expwy",
        "parkway pkwy line linja terminal term concourse pier gate exit entrance building block hall lot parking",
        "section zone area sector rue rua calle via strasse straße allee corridor",
    )
    for word in words.split()
)
_LONGEST_NAME = 200
_NAME = re.compile(
    rf"(?P<place>.+?)[\s,/(\[-]+(?:(?P<word>{'|'.join(_POLE_WORDS)})\.?\s*)?"
    r"(?P<pole>[^\W\d_]|\d{1,3}[^\W\d_]?|[^\W\d_]\d{1,2})[)\]]?",
    re.IGNORECASE,
)


class PoleName(NamedTuple):
    """A stop's name: the place, and the letter or number of the pole, empty where the name has none.

    ``is_bare`` is True for a letter that stands alone, which may mean something else.
    """

    place: str
    pole: str = ""
    is_bare: bool = False


def part_name(name: str) -> PoleName:
    """Return the parts of a stop's name.

    A bare number is no pole: it is the number of a house, a terminal or a road.
    """
    found = _NAME.fullmatch(name.strip()) if len(name) <= _LONGEST_NAME else None
    if found is None:
        return PoleName(name)
    place, pole = found["place"].rstrip(" ,/([-"), found["pole"]
    if found["word"]:
        return PoleName(place, pole) if place else PoleName(name)
    last_word = re.split(r"[\s,/.]+", place.rstrip("."))[-1].casefold()
    # A letter in brackets is a sign: (M) is where the metro is near.
    is_letter = len(pole) == 1 and pole.isupper() and name.rstrip().endswith(pole)
    if not is_letter or last_word in _PLACE_WORDS:
        return PoleName(name)
    return PoleName(place, pole, is_bare=True)


def are_poles_of_one_place(names: Sequence[str]) -> bool:
    """Whether the names of stops near each other, equal but for their poles, tell poles and not places apart.

    A letter that stands alone is a pole's where most of the stops have one of their own: the corners of Avenue A
    and of Avenue B have two stops each, whose names are equal.
    """
    letters = [part.pole for part in map(part_name, names) if part.is_bare]
    return 2 * len(set(letters)) > len(letters) or len(set(names)) == 1
