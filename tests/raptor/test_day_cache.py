"""Search timetables in memory: bounded across all networks, and no query waits until another day is built."""

import threading
from datetime import date

from fingerpost.transit.engine.raptor.search_timetable import build
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetableCache, SearchTimetables, count_bytes
from tests.feeds import timetable_from_drawing

TIMETABLE = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10")
MONDAY, TUESDAY, WEDNESDAY = (date(2026, 3, day) for day in (2, 3, 4))


def get(timetables, day):
    return timetables.get_search_timetable(day, is_reverse=False, step_free=False)


SIZE = count_bytes(get(SearchTimetables(TIMETABLE), MONDAY))


def test_memory_is_free_when_a_build_begins(monkeypatch):
    timetables, ready = SearchTimetables(TIMETABLE, cache=SearchTimetableCache(SIZE * 2)), []
    really_build = build.build_search_timetable
    monkeypatch.setattr(
        build, "build_search_timetable", lambda *a, **k: ready.append(list_ready(timetables)) or really_build(*a, **k)
    )
    for day in (MONDAY, TUESDAY, WEDNESDAY):
        get(timetables, day)

    assert ready == [[], [MONDAY], [TUESDAY]]


def list_ready(timetables):
    return [day for day in (MONDAY, TUESDAY, WEDNESDAY) if (day, False, False, 0) in timetables.cached]


def test_the_least_recently_used_day_of_any_network_goes_first():
    cache = SearchTimetableCache(SIZE * 5 // 2)
    here, there = SearchTimetables(TIMETABLE, cache=cache), SearchTimetables(TIMETABLE, cache=cache)
    for timetables, day in ((here, MONDAY), (there, TUESDAY), (here, MONDAY), (here, WEDNESDAY)):
        get(timetables, day)

    assert (list_ready(here), list_ready(there)) == ([MONDAY, WEDNESDAY], [])


def test_a_day_that_is_there_is_not_waited_for_while_another_is_built(monkeypatch):
    timetables = SearchTimetables(TIMETABLE)
    monday = get(timetables, MONDAY)
    begun, may_end, built = threading.Event(), threading.Event(), []
    really_build = build.build_search_timetable

    def build_slowly(*args, **kwargs):
        begun.set()
        may_end.wait(60)
        built.append(args[1])
        return really_build(*args, **kwargs)

    monkeypatch.setattr(build, "build_search_timetable", build_slowly)
    threads = [threading.Thread(target=get, args=(timetables, TUESDAY)) for _ in range(2)]
    for thread in threads:
        thread.start()
    begun.wait(60)
    found, ready = get(timetables, MONDAY), list_ready(timetables)
    may_end.set()
    for thread in threads:
        thread.join()

    assert (found is monday, ready, built) == (True, [MONDAY], [TUESDAY])
