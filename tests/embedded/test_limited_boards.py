"""B14 and D25: a board with a smaller limit is the beginning of the board with a larger one, ties included."""

import random

import pytest

from tests.realtime.messages import NOW, call, message, update

LINES = "QWERTYUIOPASDF"


def drawn(dice):
    """Lines that leave Alpha within four minutes of each other, so that many leave together."""
    return "\n".join(f"line {line} | Alpha 08:1{dice.randrange(4)} | Beta 08:30" for line in LINES)


def told(dice):
    """Some are a minute or two late, some do not run."""
    for line in dice.sample(LINES, 8):
        if dice.random() < 0.3:
            yield update(f"{line}-1", relationship="CANCELED")
        else:
            yield update(f"{line}-1", call(sequence=1, depart=dice.choice((0, 60, 120))))


@pytest.mark.parametrize("seed", range(4))
def test_every_shorter_board_is_the_beginning_of_the_whole(towns, seed):
    """Whatever leaves together is in one order, however much of it is shown."""
    dice = random.Random(seed)
    town = towns(drawn(dice))
    for data in (message(timestamp=NOW), message(*told(dice), timestamp=NOW)):
        town.say(data)
        whole = town.board(limit=50)["departures"]

        assert len(whole) == len(LINES)
        for limit in range(1, len(LINES) + 1):
            assert town.board(limit=limit)["departures"] == whole[:limit], limit
