"""Read members of untrusted zip files in bounded memory."""

import zipfile
from typing import IO

# With other compression methods, zipfile unpacks whole blocks, and a block of 1 MB can expand to gigabytes.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a member. Like zipfile, raise NotImplementedError if the compression method is not supported."""
    if archive.getinfo(name).compress_type not in _METHODS:
        raise NotImplementedError("That compression method is not supported")
    return archive.open(name)


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member's content; unlike ``ZipFile.read``, do not unpack more than its declared size."""
    with open_member(archive, name) as file:
        return file.read(archive.getinfo(name).file_size)
