"""The client for requests to the outside, as the settings want it."""

from collections.abc import Mapping

from fingerpost.apps.settings import Settings
from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter, Pace
from fingerpost.store.limits import LimitFile


def new_client(settings: Settings, paces: Mapping[str, Pace] | None = None) -> Client:
    """Return a client that shares its pace with all processes of this home folder."""
    return Client(
        contact=settings.contact or None,
        limiter=Limiter(LimitFile(settings.limits_file).limit, paces=paces),
        private_hosts=settings.private_hosts,
    )
