"""Run a whole search in one call from Python, because passing the arrays takes 20 microseconds per call."""

from fingerpost.transit.engine.raptor.kernel.lower_bounds import compute_lower_bounds
from fingerpost.transit.engine.raptor.kernel.mcraptor import search_mcraptor
from fingerpost.transit.engine.raptor.kernel.range_raptor import search_window
from fingerpost.transit.engine.raptor.kernel.transfer_points import optimise_transfer_points
from fingerpost.transit.kernel_mode import entry, kernel


@entry
@kernel
def run_search(net, query, best_s, work, labels, out, is_same_target):
    """Run range RAPTOR if ``best_s`` is empty, otherwise McRAPTOR for arrivals earlier than ``best_s``.

    ``is_same_target`` is passed to ``compute_lower_bounds``. Returns the number of journeys, or -1 if ``labels`` or
    ``out`` is too small.
    """
    reach_s = compute_lower_bounds(net, query, work, is_same_target)
    if len(best_s):
        journey_count = search_mcraptor(net, query, best_s, work, labels, out)
    else:
        journey_count = search_window(net, query, reach_s, work, out)
    optimise_transfer_points(net, query, work, out, journey_count)
    return journey_count
