"""Computes the next item of an iterator in a background thread."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def prefetch(items: Iterator[T], name: str) -> Iterator[T]:
    """Yield the items of an iterator, none of them None; a thread of that name computes one item ahead.

    What the iterator raises is raised here, in its turn.
    """
    with ThreadPoolExecutor(1, thread_name_prefix=f"fingerpost-{name}") as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
