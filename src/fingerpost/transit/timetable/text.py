"""A column of texts as two arrays, so that it can be opened by memory map and read one text at a time."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt


class TextColumn(Sequence[str]):
    """An immutable column of texts.

    Attributes:
        blob: all texts in UTF-8, one behind the other (uint8).
        offsets: where each begins, and the end (int64, one longer than the column).
    """

    __slots__ = ("blob", "offsets")

    def __init__(self, blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:
        self.blob = blob
        self.offsets = offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> "TextColumn":
        """Pack texts."""
        parts = [text.encode() for text in texts]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return cls(np.frombuffer(b"".join(parts), np.uint8).copy(), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:  # type: ignore[override]  # slices are not needed
        if index < 0:
            raise IndexError(index)
        return self.blob[self.offsets[index] : self.offsets[index + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        whole = self.blob.tobytes()
        offsets = self.offsets.tolist()
        for begin, end in itertools.pairwise(offsets):
            yield whole[begin:end].decode()
