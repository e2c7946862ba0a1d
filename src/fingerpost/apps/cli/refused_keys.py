"""What an operator can do where a source refused a key."""

from fingerpost.errors import SourceKeyRefused

_NO_KEY = (
    "No key was sent. Put one into an environment variable and name that: `fingerpost network set NAME key VARIABLE`, "
    "or ${VARIABLE} in the address of a feed"
)


def say_whose_key(error: SourceKeyRefused) -> str | None:
    """Return what to set; the error's own hint, where it has one of its own."""
    if error.hint != SourceKeyRefused.hint or "settings" not in error.details:
        return error.hint
    settings = " or ".join(error.details["settings"])
    return (
        f"The key that was sent is that of {settings}: set it to one that this source accepts" if settings else _NO_KEY
    )
