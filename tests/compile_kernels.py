"""``python -m tests.compile_kernels``: compile what tests in several processes would else compile at the same time."""

from fingerpost.apps.kernels import compile_kernels

if __name__ == "__main__":
    compile_kernels()
    # Now that the folder of compiled kernels is chosen: numba reads its name when it is imported.
    from fingerpost.testing.feeds import feed_from_drawing, timetable_from_tables

    # The kernels that read tables, which the engine needs only to import a feed.
    timetable_from_tables(feed_from_drawing("line A | Alpha 08:00 | Beta 08:10"), network="TOWN")
