"""The server that ``make test-otp`` started, if it did."""

from dataclasses import dataclass

from tests.otp_server.server import OtpServer
from tests.otp_server.updates import Updates

FEED = "TAMPERE"
GTFS = "gtfs/tampere/tampere_nysse_2021-22.gtfs.zip"
STREETS = "gtfs/tampere/tampere.osm.pbf"


@dataclass(frozen=True, kw_only=True)
class Running:
    server: OtpServer
    updates: Updates


tampere: Running | None = None
