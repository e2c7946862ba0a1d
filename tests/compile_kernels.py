"""``python -m tests.compile_kernels``: compile kernels once, before tests in several processes need them."""

from fingerpost.apps.warm_up import load_kernels
from fingerpost.transit.kernel_mode import use_kernels_folder

if __name__ == "__main__":
    # A mark of its own: any test run leaves the program's mark, so that tests start no compiler beside themselves.
    compiled = use_kernels_folder() / "compiled_for_tests"
    if not compiled.exists():
        load_kernels()
        compiled.touch()
    # Now that the folder of compiled kernels is chosen: numba reads its name when it is imported.
    from tests.feeds import feed_from_drawing, timetable_from_tables

    # The kernels that read tables, which the engine needs only to import a feed.
    timetable_from_tables(feed_from_drawing("line A | Alpha 08:00 | Beta 08:10"), network="TOWN")
