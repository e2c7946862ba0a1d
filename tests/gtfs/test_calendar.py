"""calendar.txt and calendar_dates.txt: service days."""

from datetime import date, timedelta

from fingerpost.transit.engine.timetable.service_days import find_covered_days
from tests.gtfs.importing import findings_of, import_text

HEAD = "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n"
DATES = "service_id,date,exception_type\n"


def find_days(table, service=0):
    start = table.calendar_start
    return [f"{start + timedelta(days=int(n)):%m-%d}" for n in table.service_runs_on[service].nonzero()[0]]


def test_a_service_runs_on_its_weekdays_from_the_first_to_the_last_day(tmp_path):
    # 2026-03-02 is a Monday.
    table = import_text(tmp_path, {"calendar.txt": HEAD + "ALL,1,0,0,0,0,0,1,20260302,20260315\n"}).timetable

    assert find_days(table) == ["03-02", "03-08", "03-09", "03-15"]
    assert find_covered_days(table) == (date(2026, 3, 2), date(2026, 3, 15))


def test_exceptions_add_and_remove_days(tmp_path):
    tables = {
        "calendar.txt": HEAD + "ALL,1,1,1,1,1,1,1,20260302,20260304\n",
        "calendar_dates.txt": DATES + "ALL,20260302,2\nALL,20260308,1\nALL,20260303,1\n",
    }
    table = import_text(tmp_path, tables).timetable

    assert find_days(table) == ["03-03", "03-04", "03-08"]
    assert find_covered_days(table) == (date(2026, 3, 3), date(2026, 3, 8))


def test_a_service_without_trips_does_not_stretch_the_calendar(tmp_path):
    days = {"OLD": "20200101,20200131", "ALL": "20260302,20260302", "ALL ": "20300101,20300101"}
    rows = "".join(f"{service},1,1,1,1,1,1,1,{dates}\n" for service, dates in days.items())
    imported = import_text(tmp_path, {"calendar.txt": HEAD + rows})

    assert find_days(imported.timetable) == ["03-02"]
    assert findings_of(imported) == [("id-repeated", 1, "calendar.txt", 4)]
