"""Chapter F: stops without pickup or drop-off."""

from tests.scenarios.riding import ride


def test_f01_boarding_is_not_offered_where_it_is_not_allowed():
    drawing = """
    line A | Alpha 08:00 | Beta 08:10 noboard | Gamma 08:20
    line A | Alpha 09:00 | Beta 09:10 | Gamma 09:20
    """
    assert ride(drawing, "Beta", "Gamma", "08:00") == ["Beta 09:10 A Gamma 09:20"]


def test_f02_alighting_is_not_offered_where_it_is_not_allowed():
    drawing = """
    line A | Alpha 08:00 | Beta 08:10 noalight | Gamma 08:20
    line A | Alpha 09:00 | Beta 09:10 | Gamma 09:20
    """
    assert ride(drawing, "Alpha", "Beta", "08:00") == ["Alpha 09:00 A Beta 09:10"]
    assert ride(drawing, "Alpha", "Gamma", "08:00")[0] == "Alpha 08:00 A Gamma 08:20"
