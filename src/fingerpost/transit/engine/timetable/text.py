"""A column of texts as two arrays, which can be opened by memory map."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt


class TextColumn(Sequence[str]):
    """An immutable column of texts: ``blob`` is their UTF-8 (uint8), ``offsets`` where each begins, and the end."""

    __slots__ = ("blob", "offsets")

    def __init__(self, blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:
        self.blob = blob
        self.offsets = offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> "TextColumn":
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
        for begin, end in itertools.pairwise(self.offsets.tolist()):
            yield whole[begin:end].decode()

    def take(self, rows: npt.NDArray[np.int32]) -> "TextColumn":
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(rows))):
            return self
        begin = self.offsets[:-1][rows]
        length = self.offsets[1:][rows] - begin
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(length, out=offsets[1:])
        return TextColumn(self.blob[np.repeat(begin - offsets[:-1], length) + np.arange(offsets[-1])], offsets)

    @classmethod
    def joined(cls, columns: "Sequence[TextColumn]") -> "TextColumn":
        offsets = [np.zeros(1, np.int64)]
        for column in columns:
            offsets.append(column.offsets[1:] + offsets[-1][-1])
        return cls(np.concatenate([column.blob for column in columns]), np.concatenate(offsets))
