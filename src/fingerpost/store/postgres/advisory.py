"""Keys of PostgreSQL's advisory locks, which all programs of a database share."""

import hashlib


def key_of(*names: str) -> int:
    """Return the 64-bit key of a lock of ours, with a sign."""
    digest = hashlib.sha256("\0".join(("fingerpost", *names)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
