"""How kernels are compiled, and the words they share."""

from typing import Any

from fingerpost.transit.changeover import kernel

# Of an edge; see the graph.
ONE_WAY, ENDS_ONLY = 1, 2
# Who starts or stops so near to a node does not walk past it.
AT_NODE_M = 0.01


def looping(function: Any) -> Any:
    """Mark a kernel; none makes an array, and numba then leaves out counting references to those of a named tuple."""
    return kernel(function, _compile)


def _compile(function: Any) -> Any:
    # A process that answers uncompiled does without numba, which takes half a second to import.
    from numba import njit

    return njit(cache=True, nogil=True, _nrt=False)(function)  # type: ignore[call-overload]  # numba's stubs lack it
