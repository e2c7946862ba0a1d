"""Which streets are left out because little hangs together with them."""

from tests.streets.towns import PLAIN, Town


def test_streets_that_meet_at_a_shut_gate_do_not_hang_together(tmp_path):
    """Three streets of 400 m, each by itself: none is so short beside the others that it is left out."""
    town = Town(
        """
        A   o
        |   |
        B   |
        |   |
        o---o
        """,
        tmp_path,
        PLAIN,
    )

    assert town.walk("A", "B")[0] == 200
