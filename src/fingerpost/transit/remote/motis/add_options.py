"""The options of ``fingerpost network add`` for MOTIS servers."""

import re
from typing import Any

from fingerpost.net.request import read_template, split_address
from fingerpost.transit.remote.kit.add_option import AddOption
from fingerpost.transit.remote.motis.transitous import URL

_API = re.compile(r"/api(/.*)?$")


def _fill_url(text: str) -> dict[str, Any]:
    """Return the record of a server; what follows ``/api`` is the server's own to say."""
    url = text.strip()
    read_template(url)
    parts = split_address(url)
    return {"url": parts._replace(path=_API.sub("", parts.path).rstrip("/")).geturl()}


def _fill_transitous(_: str) -> dict[str, Any]:
    return {"url": URL}


MOTIS = AddOption(
    name="motis",
    metavar="URL",
    help="A MOTIS 2 server, such as http://localhost:8080.",
    fill=_fill_url,
)
TRANSITOUS = AddOption(
    name="transitous",
    metavar=None,
    help="Transitous, the public MOTIS server of free software; give --zone, and --bounds for a part of the world.",
    fill=_fill_transitous,
)
