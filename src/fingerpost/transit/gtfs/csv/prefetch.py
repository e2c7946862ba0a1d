"""What comes next is made while the caller works on what is here: large tables are read by two processors."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def prefetch(items: Iterator[T], name: str) -> Iterator[T]:
    """Yield the items of an iterator, none of them None; a thread of that name makes each while its elder is in use.

    What the iterator raises is raised here, in its turn.
    """
    with ThreadPoolExecutor(1, thread_name_prefix=f"fingerpost-{name}") as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
