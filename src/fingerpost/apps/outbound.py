"""Build the HTTP client from the settings."""

from collections.abc import Mapping

from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import open_limits
from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter, Pace


def new_client(settings: Settings, paces: Mapping[str, Pace] | None = None) -> Client:
    """Return an HTTP client whose rate limits are shared by all processes of this home folder, or of a database."""
    return Client(
        contact=settings.contact or None,
        limiter=Limiter(open_limits(settings), paces=paces, own_hosts=settings.private_hosts),
        private_hosts=settings.private_hosts,
    )
