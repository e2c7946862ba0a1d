"""Load nigiri as an oracle for the engine; pynigiri has one wheel, so it is imported only where it is used."""

from datetime import datetime


def load_rival(*paths, since="2022-02-22", until="2022-02-24"):
    import pynigiri as nigiri

    config = nigiri.LoaderConfig()
    config.link_stop_distance = 0
    config.default_tz = "UTC"
    finalize = nigiri.FinalizeOptions()
    finalize.adjust_footpaths = False
    finalize.merge_dupes_inter_src = False
    finalize.merge_dupes_intra_src = False
    sources = [nigiri.TimetableSource(f"gtfs{n or ''}", str(path), config) for n, path in enumerate(paths)]
    return nigiri.load_timetable(sources, since, until, finalize)


def apply_live(rival, day, message):
    """Return nigiri's realtime timetable for a day, with a message applied to all of the day's trips."""
    import pynigiri as nigiri

    live = nigiri.create_rt_timetable(rival, datetime(day.year, day.month, day.day))
    done = nigiri.gtfsrt_update_from_bytes(rival, live, nigiri.SourceIdx(0), "gtfs", message.SerializeToString())
    assert done.total_entities_success == len(message.entity)
    return live
