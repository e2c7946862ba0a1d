"""Load nigiri as an oracle for the engine; pynigiri has one wheel, so it is imported only where it is used."""


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
