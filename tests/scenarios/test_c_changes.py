"""Chapter C: changes."""

from tests.scenarios.riding import ride


def _cross(arrival):
    return f"""
    line A | Alpha 08:00 | Beta {arrival}
    line B | Beta 08:12 | Gamma 08:30
    """


def test_c01_two_minutes_are_enough_to_change_at_a_stop():
    """Arriving at 08:10:00 for 08:12:00 is in time."""
    assert ride(_cross("08:10:00"), "Alpha", "Gamma", "07:50") == ["Alpha 08:00 A Beta 08:10 Beta 08:12 B Gamma 08:30"]


def test_c02_a_second_less_is_not():
    """Arriving at 08:10:01 misses it."""
    assert ride(_cross("08:10:01"), "Alpha", "Gamma", "07:50") == []


def test_c03_a_feeds_own_minimum_time_replaces_ours():
    """transfers.txt says five minutes: 08:07:00 is in time, 08:07:01 is not."""
    assert len(ride(_cross("08:07:00") + "change | Beta 300", "Alpha", "Gamma", "07:50")) == 1
    assert ride(_cross("08:07:01") + "change | Beta 300", "Alpha", "Gamma", "07:50") == []


def test_c04_fewer_changes_are_offered_beside_the_faster_trip():
    """The direct bus is slower but needs no change: both are best in their way."""
    drawing = """
    line A | Alpha 08:00 | Beta 08:10
    line B | Beta 08:15 | Gamma 08:30
    line D | Alpha 08:00 | Gamma 09:00
    """
    assert ride(drawing, "Alpha", "Gamma", "07:50") == [
        "Alpha 08:00 A Beta 08:10 Beta 08:15 B Gamma 08:30",
        "Alpha 08:00 D Gamma 09:00",
    ]


def test_c05_no_more_changes_than_asked_for():
    """With no change allowed only the direct bus is left."""
    drawing = """
    line A | Alpha 08:00 | Beta 08:10
    line B | Beta 08:15 | Gamma 08:30
    line D | Alpha 08:00 | Gamma 09:00
    """
    assert ride(drawing, "Alpha", "Gamma", "07:50", max_transfers=0) == ["Alpha 08:00 D Gamma 09:00"]


def test_c06_a_stated_footpath_is_walked():
    """The feed's two minutes from Beta to Nearby hold, whatever the distance says: 08:12:00 is caught, 08:11:59 not."""
    places = {"Alpha": (60.17, 24.90), "Beta": (60.17, 24.92), "Nearby": (60.174, 24.92), "Gamma": (60.25, 24.92)}

    def drawing(departure):
        return f"""
        line A | Alpha 08:00 | Beta 08:10
        line B | Nearby {departure} | Gamma 08:30
        walk   | Beta | Nearby 120
        """

    assert ride(drawing("08:12:00"), "Alpha", "Gamma", "07:50", coordinates=places) == [
        "Alpha 08:00 A Beta 08:10 walk 579m Nearby 08:12 B Gamma 08:30"
    ]
    assert ride(drawing("08:11:59"), "Alpha", "Gamma", "07:50", coordinates=places) == []


def test_c07_a_forbidden_change_is_not_made():
    """Nowalk | Beta | Beta: nobody changes there."""
    assert ride(_cross("08:05") + "nowalk | Beta | Beta", "Alpha", "Gamma", "07:50") == []
