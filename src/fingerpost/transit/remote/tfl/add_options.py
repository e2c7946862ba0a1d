"""The option of ``fingerpost network add`` for TfL."""

from fingerpost.transit.remote.kit.add_option import AddOption
from fingerpost.transit.remote.tfl.unified_api import ADDRESS, KEY_VARIABLE

TFL = AddOption(
    name="tfl",
    metavar=None,
    help=f"Transport for London's Unified API; its key stands in {KEY_VARIABLE}.",
    fill=lambda _: {"url": ADDRESS, "key": KEY_VARIABLE},
)
