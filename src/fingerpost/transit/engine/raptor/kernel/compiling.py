"""How kernels are compiled, and the words they share."""

from typing import Any

import numpy as np

from fingerpost.transit.changeover import kernel

UNREACHED = np.int32(1 << 30)
NO_BOARDING = 1
NO_ALIGHTING = 2

# Shortest rides are kept apart by when they leave: spans of this length.
SPAN_S = 900
# In a span no vehicle takes a hop; what takes longer than can be written is written as LONGEST_HOP_S.
NO_HOP = np.uint16(65_535)
LONGEST_HOP_S = 65_534


def allocating(function: Any) -> Any:
    """Mark a kernel that makes arrays."""
    return kernel(function, lambda each: _compile(each))


def looping(function: Any) -> Any:
    """Mark a kernel that makes no array.

    numba then leaves out counting references to the many arrays of a named tuple, which was measured to cost sixteen
    times the search itself.
    """
    return kernel(function, lambda each: _compile(each, _nrt=False))


def _compile(function: Any, **options: Any) -> Any:
    # A process that answers uncompiled does without numba, which takes half a second to import.
    from numba import njit

    return njit(cache=True, nogil=True, **options)(function)
